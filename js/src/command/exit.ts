/** The exit codes of the process, the same as those of the command that is compiled for this machine. */
export const EXIT = { allow: 0, fault: 1, deny: 2, escalate: 3, invalid: 4 } as const;
