-- What outcomes rest on beside the records: what people said of two fixes or causes, and the numbers
-- of learned patterns.

-- Whether a fix (or a cause) of an incident is that of another: asked once, answered by people, the
-- later word wins. Gone with either incident.
CREATE TABLE likeness (
    guild TEXT NOT NULL,
    number INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    other INTEGER NOT NULL,
    -- fix or cause
    kind TEXT NOT NULL,
    words TEXT NOT NULL,
    other_words TEXT NOT NULL,
    -- same, different, or null while nobody said.
    verdict TEXT,
    by_whom TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (guild, number, seq),
    FOREIGN KEY (guild, number) REFERENCES incident (guild, number) ON DELETE CASCADE,
    FOREIGN KEY (guild, other) REFERENCES incident (guild, number) ON DELETE CASCADE
) STRICT;

CREATE INDEX likeness_of_other ON likeness (guild, other);

-- A number and what it rests on, nothing else: the pattern itself is derived from the records.
CREATE TABLE pattern (
    guild TEXT NOT NULL,
    number INTEGER NOT NULL,
    -- cause or signature
    shared TEXT NOT NULL,
    PRIMARY KEY (guild, number)
) STRICT;

CREATE TABLE pattern_incident (
    guild TEXT NOT NULL,
    pattern INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (guild, pattern, number),
    FOREIGN KEY (guild, pattern) REFERENCES pattern (guild, number) ON DELETE CASCADE,
    FOREIGN KEY (guild, number) REFERENCES incident (guild, number) ON DELETE CASCADE
) STRICT;

CREATE INDEX pattern_of_incident ON pattern_incident (guild, number);

-- When a past incident began, where nobody said it: not later than it was noticed or reported. What
-- runs keeps its own times apart.
DROP VIEW past_incident;

CREATE VIEW past_incident AS
SELECT
    i.id, i.guild, i.number, i.channel, i.thread, i.private, i.status, i.service,
    i.started_at, i.resolved_at, i.updated_at,
    json_object(
        'id', printf('INC-%04d', i.number),
        'title', i.title,
        'service', i.service,
        'environment', i.environment,
        'started_at', strftime('%Y-%m-%dT%H:%M:%fZ', CASE
            WHEN i.status IN ('investigating', 'fixing', 'mitigated') THEN i.started_at
            ELSE coalesce(i.started_at, i.detected_at, i.reported_at)
        END / 1000.0, 'unixepoch'),
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
