-- What a team brings along. An imported document is known by where it came from, so that the same
-- one again is the same record and a changed one takes its place.
CREATE TABLE imported_document (
    guild TEXT NOT NULL,
    source TEXT NOT NULL,
    -- Of the text as it was, before anything was struck from it.
    digest TEXT NOT NULL,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (guild, source),
    FOREIGN KEY (guild, number) REFERENCES incident (guild, number) ON DELETE CASCADE
);

CREATE INDEX imported_document_of_incident ON imported_document (guild, number);

-- Imports that were read and wait for a person's yes: redacted records, not yet memory.
CREATE TABLE import_preview (
    guild TEXT NOT NULL,
    key TEXT NOT NULL,
    by_whom TEXT NOT NULL,
    content TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (guild, key)
);

CREATE INDEX import_preview_by_time ON import_preview (at);
