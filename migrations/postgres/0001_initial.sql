-- Everything that Precedent keeps, as migrations/sqlite has it. Times are unix milliseconds, lists
-- and documents are JSON text, ids of Discord are text. Tables of jobs belong to the queue and are
-- made by its own migrations. Texts by which rows are found or ordered compare byte by byte, as
-- SQLite compares them, whatever the database's own locale is.

-- The last number given out per guild. Numbers are never given out twice.
CREATE TABLE counter (
    guild TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    last BIGINT NOT NULL
);

-- Running and past incidents.
CREATE TABLE incident (
    -- Also the row of its words.
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    guild TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    -- What opened it: the same opening gives the same incident.
    opening TEXT COLLATE "C" NOT NULL,
    -- Where it may be seen from: the channel, or the private thread itself.
    channel TEXT COLLATE "C" NOT NULL,
    parent_channel TEXT,
    thread TEXT COLLATE "C",
    headline TEXT,
    private BIGINT NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    severity BIGINT,
    severity_by TEXT,
    title TEXT NOT NULL,
    service TEXT COLLATE "C",
    environment TEXT,
    locale TEXT NOT NULL,
    reporter TEXT NOT NULL,
    lead TEXT,
    report TEXT,
    symptoms TEXT NOT NULL,
    error_signatures TEXT NOT NULL,
    root_cause TEXT NOT NULL,
    cause_confirmed BIGINT NOT NULL,
    ruled_out TEXT NOT NULL,
    prevention TEXT NOT NULL,
    source TEXT NOT NULL,
    duplicate_of BIGINT,
    parent BIGINT,
    started_at BIGINT,
    detected_at BIGINT,
    reported_at BIGINT,
    acknowledged_at BIGINT,
    mitigated_at BIGINT,
    resolved_at BIGINT,
    updated_at BIGINT NOT NULL,
    UNIQUE (guild, number),
    UNIQUE (guild, opening)
);

CREATE INDEX incident_by_thread ON incident (guild, thread) WHERE thread IS NOT NULL;
CREATE INDEX incident_private ON incident (guild) WHERE private <> 0;
CREATE INDEX incident_by_end ON incident (guild, status, resolved_at);

-- Fixes tried. A withdrawn one was a wrong click: kept, never counted.
CREATE TABLE attempt (
    guild TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    fix TEXT NOT NULL,
    outcome TEXT NOT NULL,
    at BIGINT,
    by_whom TEXT NOT NULL,
    environment TEXT,
    note TEXT NOT NULL,
    withdrawn BIGINT NOT NULL,
    PRIMARY KEY (guild, number, seq),
    UNIQUE (guild, number, key),
    FOREIGN KEY (guild, number) REFERENCES incident (guild, number) ON DELETE CASCADE
);

-- Who did what, in order; nothing here is ever changed.
CREATE TABLE incident_event (
    guild TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    by_whom TEXT NOT NULL,
    what TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (guild, number, seq),
    FOREIGN KEY (guild, number) REFERENCES incident (guild, number) ON DELETE CASCADE
);

CREATE TABLE analysis (
    guild TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    -- What the answer was checked against, and the routing decision: stored before the model is asked.
    case_json TEXT NOT NULL,
    route TEXT NOT NULL,
    -- What came back; null while the model is asked.
    proposal TEXT,
    engine TEXT,
    corrections TEXT,
    measures TEXT,
    superseded BIGINT NOT NULL,
    PRIMARY KEY (guild, number, seq),
    UNIQUE (guild, number, key),
    FOREIGN KEY (guild, number) REFERENCES incident (guild, number) ON DELETE CASCADE
);

-- Ticks and unticks of steps, in order; the last one of a step is how it stands.
CREATE TABLE tick (
    guild TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    analysis BIGINT NOT NULL,
    step BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    ticked BIGINT NOT NULL,
    by_whom TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (guild, number, analysis, step, seq),
    FOREIGN KEY (guild, number, analysis) REFERENCES analysis (guild, number, seq) ON DELETE CASCADE
);

-- Messages of the bot: the intent is written before the message is sent.
CREATE TABLE post (
    key TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    guild TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    analysis BIGINT NOT NULL,
    slot TEXT COLLATE "C" NOT NULL,
    channel TEXT COLLATE "C" NOT NULL,
    message TEXT COLLATE "C",
    attempt BIGINT NOT NULL
);

CREATE INDEX post_of_incident ON post (guild, number);
CREATE INDEX post_by_message ON post (message) WHERE message IS NOT NULL;

-- Events of Discord that were taken up, so that one delivered twice is answered once.
CREATE TABLE seen (
    event TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    at BIGINT NOT NULL
);

CREATE INDEX seen_by_time ON seen (at);

CREATE TABLE service (
    guild TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    high_risk TEXT NOT NULL,
    environments_apart TEXT NOT NULL,
    PRIMARY KEY (guild, name)
);

CREATE TABLE service_alias (
    guild TEXT COLLATE "C" NOT NULL,
    alias TEXT COLLATE "C" NOT NULL,
    service TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (guild, alias),
    FOREIGN KEY (guild, service) REFERENCES service (guild, name) ON DELETE CASCADE ON UPDATE CASCADE
);

-- For recall: the newest of a service.
CREATE INDEX incident_newest ON incident
    (guild, service, (coalesce(resolved_at, started_at, reported_at, 0)) DESC, number DESC);

-- How many past incidents that everybody may see there are on each service ('' for none), so that a
-- search does not count a hundred thousand rows to say so.
CREATE TABLE incident_count (
    guild TEXT COLLATE "C" NOT NULL,
    service TEXT COLLATE "C" NOT NULL,
    past BIGINT NOT NULL,
    PRIMARY KEY (guild, service)
) WITH (fillfactor = 50);

CREATE FUNCTION incident_counts(row_is incident) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE AS $$
    SELECT row_is.private = 0 AND row_is.status NOT IN ('investigating', 'fixing', 'mitigated')
$$;

CREATE FUNCTION count_incident() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND incident_counts(OLD) THEN
        UPDATE incident_count SET past = past - 1
        WHERE guild = OLD.guild AND service = coalesce(OLD.service, '');
    END IF;
    IF TG_OP <> 'DELETE' AND incident_counts(NEW) THEN
        INSERT INTO incident_count AS known (guild, service, past)
        VALUES (NEW.guild, coalesce(NEW.service, ''), 1)
        ON CONFLICT (guild, service) DO UPDATE SET past = known.past + 1;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER count_incident
    AFTER INSERT OR DELETE OR UPDATE OF guild, service, status, private ON incident
    FOR EACH ROW EXECUTE FUNCTION count_incident();

-- The words of each incident: tokens of our own making, each behind a mark of its guild, so that a
-- search never walks another guild's words.
CREATE TABLE incident_words (
    id BIGINT PRIMARY KEY NOT NULL REFERENCES incident (id) ON DELETE CASCADE,
    words TSVECTOR NOT NULL
);

-- A short list of pending entries (in kB): an import adds to the index many at a time, and a search
-- that has to read the list still takes no notice.
CREATE INDEX incident_words_index ON incident_words USING gin (words)
    WITH (fastupdate = on, gin_pending_list_limit = 256);

-- In how many incidents of its guild a token occurs; kept with the words, in one transaction.
CREATE TABLE incident_terms (
    term TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    docs BIGINT NOT NULL
) WITH (fillfactor = 70);
