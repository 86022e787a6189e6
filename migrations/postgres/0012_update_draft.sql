-- Updates as they were composed for somebody to send elsewhere: marked as sent, these very words and
-- what they rested on are what the next update is compared with.
CREATE TABLE update_draft (
    guild TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    draft BIGINT NOT NULL,
    at BIGINT NOT NULL,
    audience TEXT NOT NULL,
    stand TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (guild, number, draft),
    FOREIGN KEY (guild, number) REFERENCES incident (guild, number) ON DELETE CASCADE
);
