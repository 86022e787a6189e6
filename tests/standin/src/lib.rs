//! A strict double of Discord and of a chat-completions provider.

pub mod llm;
