-- Channels that are watched for alerts or for changes, and what is known of each (a document).
CREATE TABLE alert_channel (
    guild TEXT NOT NULL,
    channel TEXT NOT NULL,
    -- alerts, changes
    kind TEXT NOT NULL,
    -- Not everybody sees the channel: what is watched there stays there.
    private INTEGER NOT NULL,
    locale TEXT NOT NULL,
    -- always, on_button, never
    mode TEXT NOT NULL,
    floor INTEGER NOT NULL,
    quiet_repeats_ms INTEGER NOT NULL,
    by_whom TEXT NOT NULL,
    at INTEGER NOT NULL,
    -- Counts what was written, so that nobody writes over what they have not read.
    version INTEGER NOT NULL,
    state TEXT NOT NULL,
    -- Alerts that a message counted and did not show, and when the last of these came.
    unread INTEGER NOT NULL DEFAULT 0,
    unread_at INTEGER,
    -- No longer watched; what is known stays, for the incidents that came of it.
    stopped INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (guild, channel, kind)
) STRICT;

-- What the messages of a watched channel said, and what was decided about it.
CREATE TABLE alert (
    guild TEXT NOT NULL,
    channel TEXT NOT NULL,
    message TEXT NOT NULL,
    -- What is broken.
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    alert TEXT NOT NULL,
    decision TEXT NOT NULL,
    -- Its incident; without one it was kept.
    number INTEGER,
    PRIMARY KEY (guild, channel, message, key),
    FOREIGN KEY (guild, number) REFERENCES incident (guild, number) ON DELETE CASCADE
) STRICT;
CREATE INDEX alert_by_incident ON alert (guild, number);
CREATE INDEX alert_by_age ON alert (at);

-- Which incident the alerts of a channel belong to.
CREATE TABLE incident_alert (
    guild TEXT NOT NULL,
    channel TEXT NOT NULL,
    -- Its number in the channel's document.
    watched INTEGER NOT NULL,
    -- The incident, and the one that it was before it was merged.
    number INTEGER NOT NULL,
    origin INTEGER NOT NULL,
    -- It was opened by the alert, not by people.
    opened INTEGER NOT NULL,
    -- Until when the word of people is known to the channel's document.
    heard_at INTEGER NOT NULL,
    unread INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (guild, channel, watched),
    FOREIGN KEY (guild, number) REFERENCES incident (guild, number) ON DELETE CASCADE
) STRICT;
CREATE INDEX incident_alert_by_incident ON incident_alert (guild, number);

-- What was changed, as the channels of changes told it: kept for seven days.
CREATE TABLE change (
    guild TEXT NOT NULL,
    channel TEXT NOT NULL,
    message TEXT NOT NULL,
    seq INTEGER NOT NULL,
    private INTEGER NOT NULL,
    service TEXT,
    at INTEGER NOT NULL,
    change TEXT NOT NULL,
    PRIMARY KEY (guild, channel, message, seq)
) STRICT;
CREATE INDEX change_of_service ON change (guild, service, at);
CREATE INDEX change_by_age ON change (at);
