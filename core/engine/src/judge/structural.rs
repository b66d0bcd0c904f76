//! The rules that no policy has.

crate::named::named! {
    /// A rule of the engine, or of a face that guards calls. The page `structural-rules` of the reference says what each means.
    pub enum StructuralRule {
        /// Calls of the server are not judged.
        TrustedServer = "trusted-server",
        /// The call cannot be read as its tool reads it.
        UnreadableArgument = "structural-unreadable-argument",
        /// The call exceeds a limit.
        Limit = "structural-limit",
        /// Neither the annotation nor the schema names an argument.
        UnknownArgument = "structural-unknown-argument",
        /// A value has no canonical form.
        UnresolvableValue = "structural-unresolvable-value",
        /// The call may change or read a protected path.
        ProtectedPath = "structural-protected-path",
        /// The call may change a protected path below what it names.
        ProtectedBelow = "structural-protected-below",
        /// The tool says what is allowed.
        IntrospectionAllow = "structural-introspection-allow",
        /// The call is above the capability ceiling.
        CapabilityCeiling = "structural-capability-ceiling",
        /// The world does not show a place.
        Visibility = "structural-visibility",
        /// The world does not let the tool act at a place.
        Operation = "structural-operation",
        /// A domain is not in the server's allowlist.
        DomainEscalate = "structural-domain-escalate",
        /// No annotation describes the tool.
        UnknownTool = "structural-unknown-tool",
        /// All paths lie in the sandbox.
        SandboxAllow = "structural-sandbox-allow",
        /// The arguments do not say what the call touches.
        OpaqueTool = "structural-opaque-tool",
        /// A part of a shell command is not understood.
        CommandNotUnderstood = "structural-command-not-understood",
        /// No rule decides about a part of a shell command.
        UndecidedCommand = "structural-undecided-command",
        /// A rule looks at a count that nobody says, or the guard cannot count a call.
        UnknownCount = "structural-unknown-count",
        /// The tool changes nothing but the agent's own state.
        AgentTool = "structural-agent-tool",
        /// No rule decides.
        DefaultDeny = "default-deny",
        /// A person decided.
        Approval = "structural-approval",
        /// The host could not answer a question.
        HostError = "structural-host-error",
        /// The engine's component was stopped.
        EngineFault = "structural-engine-fault",
        /// The guard has a tool that nobody has accepted.
        UnpinnedTool = "structural-unpinned-tool",
        /// The guard cannot write its log.
        Audit = "structural-audit",
        /// The guard is stopping.
        Stopped = "structural-stopped",
        /// The guard's signed bundle has expired.
        ExpiredBundle = "structural-expired-bundle",
        /// A proxy that cannot rewrite a call would send it otherwise than it was judged.
        InexactCall = "structural-inexact-call",
        /// A hook cannot tell what the agent asked.
        HookFault = "structural-hook-fault",
    }
}

impl From<StructuralRule> for &str {
    fn from(rule: StructuralRule) -> Self {
        rule.as_str()
    }
}
