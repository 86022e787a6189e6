-- Which making of tokens the words in the index have. An older one is made anew when the store is
-- opened.
CREATE TABLE words_version (
    version BIGINT NOT NULL
);

INSERT INTO words_version (version) VALUES (1);
