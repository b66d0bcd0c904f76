//! Every price of the engine in one table: how many steps of [`Limits::steps`](crate::limits::Limits) a piece of work takes
//! (SPEC §14).
//!
//! The comparison of two paths is one step, and a step takes at most 25 ns natively. Prices are held against the worst calls within
//! the limits (`benches/worst_case.rs`): one that is too low lets a call take more than 50 ms.

macro_rules! prices {
    ($($(#[doc = $why:literal])+ $name:ident = $price:literal, $unit:literal;)+) => {
        $($(#[doc = $why])+ #[doc = concat!("\n\nUnit: ", $unit, ".")] pub const $name: usize = $price;)+
    };
}

prices! {
    /// A question to the host: its answer is checked, copied and kept.
    QUESTION = 32, "steps";
    /// A question about git, beyond that, and each URL that it is answered with: they are kept, copied and read. A URL of more
    /// bytes costs as many steps.
    GIT_URL = 128, "steps";
    /// A ref in an answer: it is copied and kept.
    ANSWERED_REF = 4, "steps";
    /// A path that was resolved before: it is looked up.
    KNOWN_PATH = 16, "steps";
    /// A path is compared with what was asked before, and kept.
    PATH_BYTES = 16, "bytes a step";
    /// A further reading of a path is walked like the path itself, and kept.
    READING_BYTES = 4, "bytes a step";
    /// Holding a value against a list, a set of domains or a part of the index: a hash and a comparison.
    LOOK_UP = 2, "steps";
    /// The directories that hold a path are looked up among those that rules allow, each name of it once.
    GRANT_BYTES = 64, "bytes a step";
    /// A value that is looked up in a list is hashed, or put into lower case.
    LISTED_BYTES = 16, "bytes a step";
    /// A value beyond as many as one role may have: what is held of it, with its forms, at 8 bytes a step.
    FURTHER_VALUE = 96, "steps";
    /// A text that a condition looks at is read, or compared.
    TEXT_BYTES = 16, "bytes a step";
    /// Testing an argument where its text may have to be read as a number, or a list is searched.
    TEXT_TEST = 4, "steps";
    /// A ref is read part by part.
    REF_BYTES = 4, "bytes a step";
    /// A URL is parsed, with its host.
    URL_BYTES = 2, "bytes a step";
    /// Hosts are looked for at each byte of a value that is not clearly a URL.
    UNCLEAR_URL_BYTE = 4, "steps a byte";
    /// A text in which no address needs a second reading is looked at once.
    PLAIN_MAIL_BYTES = 16, "bytes a step";
    /// Any other text with addresses is split and joined.
    MAIL_BYTES = 2, "bytes a step";
    /// An address is made canonical: its domain may have to be parsed.
    MAIL_ADDRESS = 40, "steps";
    /// Holding a path against all directories of the sandbox: it ends at the first bytes for most.
    SANDBOX_DIRECTORIES = 4, "comparisons a step";
    /// A path that is written is held against one that may arrive there, which is kept.
    ARRIVING_PATH = 8, "steps";
    /// A path that may arrive in a directory is held against one pattern.
    ARRIVING_PATTERN = 64, "steps";
    /// A byte of a command of a shell is read, expanded and described.
    COMMAND_BYTES = 16, "steps a byte";
    /// A program that a command runs is judged as a call.
    PROGRAM = 200, "steps";
    /// A glob of a ceiling is begun.
    GLOB = 2, "steps";
    /// A glob of a ceiling goes back to a star for each byte at worst: the product of both lengths.
    GLOB_BYTES = 32, "bytes a step";
    /// A pattern of names is compared with each component, byte by byte.
    NAME_PATTERN_BYTES = 8, "bytes a step";
    /// A pathspec goes back to a star for each byte at worst: the product of its pieces and the bytes.
    PATHSPEC_PIECES = 16, "pieces a step";
    /// A path is held against protected patterns in this many forms: the canonical one, the lexical one, and where its link is.
    PROTECTED_FORMS = 3, "forms";
    /// A value that a ceiling constrains: its forms are found.
    CEILING_VALUE = 8, "steps";
    /// A signature is checked: two blocks of SHA-256, and the host's answer is read.
    SIGNATURE = 128, "steps";
    /// Approvals may take this part of a verdict's steps: what they allow is judged before.
    APPROVALS = 4, "a part of the limit";
}
