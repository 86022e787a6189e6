-- What was said of destructive steps: somebody asked for an approver, somebody approved, somebody said
-- not now, in order; the last of a step is how it stands.
CREATE TABLE approval (
    guild TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    analysis BIGINT NOT NULL,
    step BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    -- asked, approved, not_now.
    word TEXT NOT NULL,
    -- The id decides whether somebody approves what they asked for themselves; the name is shown.
    person TEXT NOT NULL,
    by_whom TEXT NOT NULL,
    at BIGINT NOT NULL,
    -- A digest of the step and its command: an approval holds for these alone.
    words TEXT NOT NULL,
    -- The interaction that said it: delivered twice, it counts once.
    interaction TEXT NOT NULL,
    PRIMARY KEY (guild, number, analysis, step, seq),
    UNIQUE (guild, number, analysis, step, interaction),
    FOREIGN KEY (guild, number, analysis) REFERENCES analysis (guild, number, seq) ON DELETE CASCADE
);
