-- While an incident runs: who speaks for it, what people say of the impact, when an update is due,
-- whether its prevention is done; the updates that were said, and who wants to be reminded.
ALTER TABLE incident ADD COLUMN comms_lead TEXT;
ALTER TABLE incident ADD COLUMN impact TEXT NOT NULL DEFAULT '{}';
ALTER TABLE incident ADD COLUMN next_update_at BIGINT;
ALTER TABLE incident ADD COLUMN prevention_done BIGINT NOT NULL DEFAULT 0;

-- Each update that went out, with what it rested on: the next one says what changed.
CREATE TABLE update_said (
    guild TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    by_whom TEXT NOT NULL,
    -- internal, status_page, executive
    audience TEXT NOT NULL,
    stand TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (guild, number, seq),
    FOREIGN KEY (guild, number) REFERENCES incident (guild, number) ON DELETE CASCADE
);

-- Who wants to be reminded when an update is due: the only people that are ever pinged.
CREATE TABLE remind (
    guild TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (guild, number, person),
    FOREIGN KEY (guild, number) REFERENCES incident (guild, number) ON DELETE CASCADE
);

-- Who does which step of which analysis.
CREATE TABLE step_owner (
    guild TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    analysis BIGINT NOT NULL,
    step BIGINT NOT NULL,
    by_whom TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (guild, number, analysis, step),
    FOREIGN KEY (guild, number, analysis) REFERENCES analysis (guild, number, seq) ON DELETE CASCADE
);
