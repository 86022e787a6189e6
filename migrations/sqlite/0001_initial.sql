-- Everything that Precedent keeps. Times are unix milliseconds, lists and documents are JSON text,
-- ids of Discord are text. Tables of jobs belong to the queue and are made by its own migrations.

-- The last number given out per guild. Numbers are never given out twice.
CREATE TABLE counter (
    guild TEXT PRIMARY KEY NOT NULL,
    last INTEGER NOT NULL
) STRICT;

-- Running and past incidents.
CREATE TABLE incident (
    -- Also the row of its words.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guild TEXT NOT NULL,
    number INTEGER NOT NULL,
    -- What opened it: the same opening gives the same incident.
    opening TEXT NOT NULL,
    -- Where it may be seen from: the channel, or the private thread itself.
    channel TEXT NOT NULL,
    parent_channel TEXT,
    thread TEXT,
    headline TEXT,
    private INTEGER NOT NULL,
    status TEXT NOT NULL,
    severity INTEGER,
    severity_by TEXT,
    title TEXT NOT NULL,
    service TEXT,
    environment TEXT,
    locale TEXT NOT NULL,
    reporter TEXT NOT NULL,
    lead TEXT,
    report TEXT,
    symptoms TEXT NOT NULL,
    error_signatures TEXT NOT NULL,
    root_cause TEXT NOT NULL,
    cause_confirmed INTEGER NOT NULL,
    ruled_out TEXT NOT NULL,
    prevention TEXT NOT NULL,
    source TEXT NOT NULL,
    duplicate_of INTEGER,
    parent INTEGER,
    started_at INTEGER,
    detected_at INTEGER,
    reported_at INTEGER,
    acknowledged_at INTEGER,
    mitigated_at INTEGER,
    resolved_at INTEGER,
    updated_at INTEGER NOT NULL,
    UNIQUE (guild, number),
    UNIQUE (guild, opening)
) STRICT;

CREATE INDEX incident_by_thread ON incident (guild, thread) WHERE thread IS NOT NULL;
-- Answers "how many, how many on this service" without touching a row.
CREATE INDEX incident_by_service ON incident (guild, service, status, private, channel, thread, number);
CREATE INDEX incident_by_end ON incident (guild, status, resolved_at);

-- Fixes tried. A withdrawn one was a wrong click: kept, never counted.
CREATE TABLE attempt (
    guild TEXT NOT NULL,
    number INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    key TEXT NOT NULL,
    fix TEXT NOT NULL,
    outcome TEXT NOT NULL,
    at INTEGER,
    by_whom TEXT NOT NULL,
    environment TEXT,
    note TEXT NOT NULL,
    withdrawn INTEGER NOT NULL,
    PRIMARY KEY (guild, number, seq),
    UNIQUE (guild, number, key),
    FOREIGN KEY (guild, number) REFERENCES incident (guild, number) ON DELETE CASCADE
) STRICT;

-- Who did what, in order; nothing here is ever changed.
CREATE TABLE incident_event (
    guild TEXT NOT NULL,
    number INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    by_whom TEXT NOT NULL,
    what TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (guild, number, seq),
    FOREIGN KEY (guild, number) REFERENCES incident (guild, number) ON DELETE CASCADE
) STRICT;

CREATE TABLE analysis (
    guild TEXT NOT NULL,
    number INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    key TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- What the answer was checked against, and the routing decision: stored before the model is asked.
    case_json TEXT NOT NULL,
    route TEXT NOT NULL,
    -- What came back; null while the model is asked.
    proposal TEXT,
    engine TEXT,
    corrections TEXT,
    measures TEXT,
    superseded INTEGER NOT NULL,
    PRIMARY KEY (guild, number, seq),
    UNIQUE (guild, number, key),
    FOREIGN KEY (guild, number) REFERENCES incident (guild, number) ON DELETE CASCADE
) STRICT;

-- Ticks and unticks of steps, in order; the last one of a step is how it stands.
CREATE TABLE tick (
    guild TEXT NOT NULL,
    number INTEGER NOT NULL,
    analysis INTEGER NOT NULL,
    step INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    ticked INTEGER NOT NULL,
    by_whom TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (guild, number, analysis, step, seq),
    FOREIGN KEY (guild, number, analysis) REFERENCES analysis (guild, number, seq) ON DELETE CASCADE
) STRICT;

-- Messages of the bot: the intent is written before the message is sent.
CREATE TABLE post (
    key TEXT PRIMARY KEY NOT NULL,
    guild TEXT NOT NULL,
    number INTEGER NOT NULL,
    analysis INTEGER NOT NULL,
    slot TEXT NOT NULL,
    channel TEXT NOT NULL,
    message TEXT,
    attempt INTEGER NOT NULL
) STRICT;

CREATE INDEX post_of_incident ON post (guild, number);
CREATE INDEX post_by_message ON post (message) WHERE message IS NOT NULL;

-- Events of Discord that were taken up, so that one delivered twice is answered once.
CREATE TABLE seen (
    event TEXT PRIMARY KEY NOT NULL,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX seen_by_time ON seen (at);

CREATE TABLE service (
    guild TEXT NOT NULL,
    name TEXT NOT NULL,
    high_risk TEXT NOT NULL,
    environments_apart TEXT NOT NULL,
    PRIMARY KEY (guild, name)
) STRICT;

CREATE TABLE service_alias (
    guild TEXT NOT NULL,
    alias TEXT NOT NULL,
    service TEXT NOT NULL,
    PRIMARY KEY (guild, alias),
    FOREIGN KEY (guild, service) REFERENCES service (guild, name) ON DELETE CASCADE ON UPDATE CASCADE
) STRICT;

-- The record as memory sees it: one JSON document an incident, in the words of the program's type.
CREATE VIEW past_incident AS
SELECT
    i.id, i.guild, i.number, i.channel, i.thread, i.private, i.status, i.service,
    i.started_at, i.resolved_at, i.updated_at,
    json_object(
        'id', printf('INC-%04d', i.number),
        'title', i.title,
        'service', i.service,
        'environment', i.environment,
        'started_at', strftime('%Y-%m-%dT%H:%M:%fZ', i.started_at / 1000.0, 'unixepoch'),
        'resolved_at', strftime('%Y-%m-%dT%H:%M:%fZ', i.resolved_at / 1000.0, 'unixepoch'),
        'symptoms', json(i.symptoms),
        'error_signatures', json(i.error_signatures),
        'root_cause', i.root_cause,
        'cause_confirmed', json(CASE WHEN i.cause_confirmed <> 0 THEN 'true' ELSE 'false' END),
        'attempts', json((
            SELECT json_group_array(json_object(
                'fix', a.fix,
                'outcome', a.outcome,
                'at', strftime('%Y-%m-%dT%H:%M:%fZ', a.at / 1000.0, 'unixepoch'),
                'by', a.by_whom,
                'environment', a.environment,
                'note', a.note
            ) ORDER BY a.seq)
            FROM attempt a
            WHERE a.guild = i.guild AND a.number = i.number AND a.withdrawn = 0
        )),
        'ruled_out', json(i.ruled_out),
        'prevention', i.prevention,
        'source', i.source,
        'duplicate_of', CASE WHEN i.duplicate_of IS NOT NULL THEN printf('INC-%04d', i.duplicate_of) END,
        'parent', CASE WHEN i.parent IS NOT NULL THEN printf('INC-%04d', i.parent) END
    ) AS record
FROM incident i;

-- The words of each incident: tokens of our own making, so the tokenizer has only to split at
-- spaces. The first column is the guild, so that a search never walks another guild's words.
CREATE VIRTUAL TABLE incident_words USING fts5(
    guild, title, symptoms, signatures, cause, rest,
    content = '', contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 2 tokenchars '_'"
);

-- In how many incidents a token occurs.
CREATE VIRTUAL TABLE incident_terms USING fts5vocab(incident_words, 'row');
