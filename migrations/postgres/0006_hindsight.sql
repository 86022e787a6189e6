-- What Hindsight was given of us, and what it still has to be told. The incidents themselves are the
-- record; this says how far the server follows them, so that an outage, a crash or an import is
-- caught up with whenever the server answers again.
CREATE TABLE hindsight_document (
    -- Which server: host, port and path. Another address is another server, which has nothing yet.
    home TEXT NOT NULL,
    guild TEXT NOT NULL,
    number BIGINT NOT NULL,
    -- Of what was sent last and is kept there; empty while that is not known.
    fingerprint TEXT NOT NULL,
    -- The incident's updated_at when it was read for that.
    source_at BIGINT NOT NULL,
    -- It was forgotten here, and is there no more. The row stays, so that it never comes back from
    -- there as something that we merely have no record of.
    forgotten BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    -- Not to be tried before.
    next_at BIGINT NOT NULL,
    -- Why it is not kept: empty, refused, unreachable, ...
    problem TEXT NOT NULL,
    PRIMARY KEY (home, guild, number)
);

CREATE INDEX hindsight_document_of ON hindsight_document (guild, number);

-- One process tells a server at a time.
CREATE TABLE hindsight_lease (
    home TEXT NOT NULL PRIMARY KEY,
    holder TEXT NOT NULL,
    until BIGINT NOT NULL
);

-- What changed lately, without looking at all that did not.
CREATE INDEX incident_by_change ON incident (updated_at);
