-- Channels that are watched for alerts or for changes, and what is known of each (a document).
CREATE TABLE alert_channel (
    guild TEXT COLLATE "C" NOT NULL,
    channel TEXT COLLATE "C" NOT NULL,
    -- alerts, changes
    kind TEXT COLLATE "C" NOT NULL,
    -- Not everybody sees the channel: what is watched there stays there.
    private BIGINT NOT NULL,
    locale TEXT NOT NULL,
    -- always, on_button, never
    mode TEXT NOT NULL,
    floor BIGINT NOT NULL,
    quiet_repeats_ms BIGINT NOT NULL,
    by_whom TEXT NOT NULL,
    at BIGINT NOT NULL,
    -- Counts what was written, so that nobody writes over what they have not read.
    version BIGINT NOT NULL,
    state TEXT NOT NULL,
    -- Alerts that a message counted and did not show, and when the last of these came.
    unread BIGINT NOT NULL DEFAULT 0,
    unread_at BIGINT,
    -- No longer watched; what is known stays, for the incidents that came of it.
    stopped BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (guild, channel, kind)
);

-- What the messages of a watched channel said, and what was decided about it.
CREATE TABLE alert (
    guild TEXT COLLATE "C" NOT NULL,
    channel TEXT COLLATE "C" NOT NULL,
    message TEXT COLLATE "C" NOT NULL,
    -- What is broken.
    key TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    alert TEXT NOT NULL,
    decision TEXT NOT NULL,
    -- Its incident; without one it was kept.
    number BIGINT,
    PRIMARY KEY (guild, channel, message, key),
    FOREIGN KEY (guild, number) REFERENCES incident (guild, number) ON DELETE CASCADE
);
CREATE INDEX alert_by_incident ON alert (guild, number);
CREATE INDEX alert_by_age ON alert (at);

-- Which incident the alerts of a channel belong to.
CREATE TABLE incident_alert (
    guild TEXT COLLATE "C" NOT NULL,
    channel TEXT COLLATE "C" NOT NULL,
    -- Its number in the channel's document.
    watched BIGINT NOT NULL,
    -- The incident, and the one that it was before it was merged.
    number BIGINT NOT NULL,
    origin BIGINT NOT NULL,
    -- It was opened by the alert, not by people.
    opened BIGINT NOT NULL,
    -- Until when the word of people is known to the channel's document.
    heard_at BIGINT NOT NULL,
    unread BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (guild, channel, watched),
    FOREIGN KEY (guild, number) REFERENCES incident (guild, number) ON DELETE CASCADE
);
CREATE INDEX incident_alert_by_incident ON incident_alert (guild, number);

-- What was changed, as the channels of changes told it: kept for seven days.
CREATE TABLE change (
    guild TEXT COLLATE "C" NOT NULL,
    channel TEXT COLLATE "C" NOT NULL,
    message TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    private BIGINT NOT NULL,
    service TEXT COLLATE "C",
    at BIGINT NOT NULL,
    change TEXT NOT NULL,
    PRIMARY KEY (guild, channel, message, seq)
);
CREATE INDEX change_of_service ON change (guild, service, at);
CREATE INDEX change_by_age ON change (at);
