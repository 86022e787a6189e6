-- What outcomes rest on beside the records, as migrations/sqlite has it: what people said of two fixes or causes, and the numbers
-- of learned patterns.

-- Whether a fix (or a cause) of an incident is that of another: asked once, answered by people, the
-- later word wins. Gone with either incident.
CREATE TABLE likeness (
    guild TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    other BIGINT NOT NULL,
    -- fix or cause
    kind TEXT NOT NULL,
    words TEXT NOT NULL,
    other_words TEXT NOT NULL,
    -- same, different, or null while nobody said.
    verdict TEXT,
    by_whom TEXT,
    at BIGINT NOT NULL,
    PRIMARY KEY (guild, number, seq),
    FOREIGN KEY (guild, number) REFERENCES incident (guild, number) ON DELETE CASCADE,
    FOREIGN KEY (guild, other) REFERENCES incident (guild, number) ON DELETE CASCADE
);

CREATE INDEX likeness_of_other ON likeness (guild, other);

-- A number and what it rests on, nothing else: the pattern itself is derived from the records.
CREATE TABLE pattern (
    guild TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    -- cause or signature
    shared TEXT NOT NULL,
    PRIMARY KEY (guild, number)
);

CREATE TABLE pattern_incident (
    guild TEXT COLLATE "C" NOT NULL,
    pattern BIGINT NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (guild, pattern, number),
    FOREIGN KEY (guild, pattern) REFERENCES pattern (guild, number) ON DELETE CASCADE,
    FOREIGN KEY (guild, number) REFERENCES incident (guild, number) ON DELETE CASCADE
);

CREATE INDEX pattern_of_incident ON pattern_incident (guild, number);
