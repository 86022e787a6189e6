-- As migrations/sqlite has it.

-- More of a service: who answers for it (role and name), its repository, its runbooks.
ALTER TABLE service ADD COLUMN owners TEXT NOT NULL DEFAULT '[]';
ALTER TABLE service ADD COLUMN repository TEXT NOT NULL DEFAULT '';
ALTER TABLE service ADD COLUMN runbooks TEXT NOT NULL DEFAULT '[]';

-- What a guild has set, such as the roles of its responders.
CREATE TABLE setting (
    guild TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (guild, name)
);

-- Who changed what of services, settings, and who may see what; nothing here is ever changed.
CREATE TABLE audit (
    guild TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    by_whom TEXT NOT NULL,
    what TEXT NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (guild, seq)
);

CREATE INDEX audit_of_subject ON audit (guild, subject, seq);

-- Numbers of incidents that were forgotten, and from where they could be seen. No word of them.
CREATE TABLE forgotten (
    guild TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    by_whom TEXT NOT NULL,
    channel TEXT COLLATE "C" NOT NULL,
    thread TEXT COLLATE "C",
    private BIGINT NOT NULL,
    PRIMARY KEY (guild, number)
);

-- Messages of the bot about a forgotten incident, until they are edited.
CREATE TABLE forgotten_post (
    guild TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    channel TEXT COLLATE "C" NOT NULL,
    message TEXT COLLATE "C" NOT NULL,
    locale TEXT NOT NULL,
    PRIMARY KEY (guild, channel, message)
);
