-- The meaning of each past incident as an embeddings model gives it, where one is configured: a
-- vector of small numbers, made anew when the record or the model changes.
CREATE TABLE incident_vector (
    -- Rises with every one written, so that who keeps a part in memory reads only what is new.
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    incident INTEGER NOT NULL UNIQUE REFERENCES incident (id) ON DELETE CASCADE,
    guild TEXT NOT NULL,
    model TEXT NOT NULL,
    -- A scale (4 bytes, little endian), then one signed byte a dimension.
    vector BLOB NOT NULL
) STRICT;

CREATE INDEX incident_vector_new ON incident_vector (guild, model, seq);
