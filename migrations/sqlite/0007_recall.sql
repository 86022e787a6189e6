-- What recall asks of every question, kept instead of counted, and the version of the words.

-- How many past incidents there are: by guild, by who may see them, by service ('' where unknown).
-- Public ones have neither channel nor thread here.
CREATE TABLE past_count (
    guild TEXT NOT NULL,
    private INTEGER NOT NULL,
    channel TEXT NOT NULL,
    thread TEXT NOT NULL,
    service TEXT NOT NULL,
    incidents INTEGER NOT NULL,
    PRIMARY KEY (guild, private, channel, thread, service)
) STRICT, WITHOUT ROWID;

INSERT INTO past_count (guild, private, channel, thread, service, incidents)
SELECT
    guild, private <> 0,
    CASE WHEN private <> 0 THEN channel ELSE '' END,
    CASE WHEN private <> 0 THEN coalesce(thread, '') ELSE '' END,
    coalesce(service, ''), count(*)
FROM incident
WHERE status NOT IN ('investigating', 'fixing', 'mitigated')
GROUP BY 1, 2, 3, 4, 5;

CREATE TRIGGER past_count_of_new AFTER INSERT ON incident
WHEN new.status NOT IN ('investigating', 'fixing', 'mitigated')
BEGIN
    INSERT INTO past_count (guild, private, channel, thread, service, incidents)
    VALUES (
        new.guild, new.private <> 0,
        CASE WHEN new.private <> 0 THEN new.channel ELSE '' END,
        CASE WHEN new.private <> 0 THEN coalesce(new.thread, '') ELSE '' END,
        coalesce(new.service, ''), 1
    )
    ON CONFLICT (guild, private, channel, thread, service)
    DO UPDATE SET incidents = incidents + 1;
END;

CREATE TRIGGER past_count_of_gone AFTER DELETE ON incident
WHEN old.status NOT IN ('investigating', 'fixing', 'mitigated')
BEGIN
    UPDATE past_count SET incidents = incidents - 1
    WHERE guild = old.guild AND private = (old.private <> 0)
        AND channel = CASE WHEN old.private <> 0 THEN old.channel ELSE '' END
        AND thread = CASE WHEN old.private <> 0 THEN coalesce(old.thread, '') ELSE '' END
        AND service = coalesce(old.service, '');
    -- What is forgotten leaves no name behind.
    DELETE FROM past_count WHERE guild = old.guild AND incidents <= 0;
END;

CREATE TRIGGER past_count_of_changed
AFTER UPDATE OF guild, private, channel, thread, service, status ON incident
BEGIN
    UPDATE past_count SET incidents = incidents - 1
    WHERE old.status NOT IN ('investigating', 'fixing', 'mitigated')
        AND guild = old.guild AND private = (old.private <> 0)
        AND channel = CASE WHEN old.private <> 0 THEN old.channel ELSE '' END
        AND thread = CASE WHEN old.private <> 0 THEN coalesce(old.thread, '') ELSE '' END
        AND service = coalesce(old.service, '');
    INSERT INTO past_count (guild, private, channel, thread, service, incidents)
    SELECT
        new.guild, new.private <> 0,
        CASE WHEN new.private <> 0 THEN new.channel ELSE '' END,
        CASE WHEN new.private <> 0 THEN coalesce(new.thread, '') ELSE '' END,
        coalesce(new.service, ''), 1
    WHERE new.status NOT IN ('investigating', 'fixing', 'mitigated')
    ON CONFLICT (guild, private, channel, thread, service)
    DO UPDATE SET incidents = incidents + 1;
    DELETE FROM past_count WHERE guild = old.guild AND incidents <= 0;
END;

-- The newest of a service, without sorting all of them.
CREATE INDEX incident_newest ON incident (
    guild, service, coalesce(resolved_at, started_at, reported_at, 0) DESC, number DESC
);
DROP INDEX incident_by_service;

-- Which making of tokens the words in the index have. An older one is made anew when the store is
-- opened.
CREATE TABLE words_version (
    version INTEGER NOT NULL
) STRICT;

INSERT INTO words_version (version) VALUES (1);
