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

-- Records are built from their rows, in one way for every database.
DROP VIEW past_incident;
