-- More of a service: who answers for it (role and name), its repository, its runbooks.
ALTER TABLE service ADD COLUMN owners TEXT NOT NULL DEFAULT '[]';
ALTER TABLE service ADD COLUMN repository TEXT NOT NULL DEFAULT '';
ALTER TABLE service ADD COLUMN runbooks TEXT NOT NULL DEFAULT '[]';

-- What a guild has set, such as the roles of its responders.
CREATE TABLE setting (
    guild TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (guild, name)
) STRICT;

-- Who changed what of services, settings, and who may see what; nothing here is ever changed.
CREATE TABLE audit (
    guild TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    by_whom TEXT NOT NULL,
    what TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (guild, seq)
) STRICT;

CREATE INDEX audit_of_subject ON audit (guild, subject, seq);

-- Numbers of incidents that were forgotten, and from where they could be seen. No word of them.
CREATE TABLE forgotten (
    guild TEXT NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    by_whom TEXT NOT NULL,
    channel TEXT NOT NULL,
    thread TEXT,
    private INTEGER NOT NULL,
    PRIMARY KEY (guild, number)
) STRICT;

-- Messages of the bot about a forgotten incident, until they are edited.
CREATE TABLE forgotten_post (
    guild TEXT NOT NULL,
    number INTEGER NOT NULL,
    channel TEXT NOT NULL,
    message TEXT NOT NULL,
    locale TEXT NOT NULL,
    PRIMARY KEY (guild, channel, message)
) STRICT;
