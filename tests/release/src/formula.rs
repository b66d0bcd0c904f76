//! A formula for Homebrew: programs for Linux, and a build from the sources for macOS.

use std::fmt::Write as _;

use crate::platform::PLATFORMS;
use crate::{Artifact, LICENSE, REPOSITORY, VERSION, digest};

/// The formula, with the digests of the tarballs among the artifacts.
pub(crate) fn of(artifacts: &[Artifact]) -> Artifact {
    let licenses: Vec<String> = LICENSE
        .split(" OR ")
        .map(|license| format!("\"{license}\""))
        .collect();
    let mut text = format!(
        "class Callgate < Formula\n  desc \"Policy decision point for AI-agent tool calls\"\n  homepage \"{REPOSITORY}\"\n  \
         version \"{VERSION}\"\n  license any_of: [{}]\n\n  on_macos do\n    \
         url \"{REPOSITORY}.git\", tag: \"v{VERSION}\"\n    depends_on \"rust\" => :build\n  end\n\n  on_linux do\n",
        licenses.join(", "),
    );
    for platform in &PLATFORMS {
        let name = format!("callgate-v{VERSION}-{}.tgz", platform.triple());
        let Some(tarball) = artifacts.iter().find(|artifact| artifact.name == name) else {
            continue;
        };
        let processor = if platform.node == "x64" { "intel" } else { "arm" };
        let _ = write!(
            text,
            "    on_{processor} do\n      url \"{REPOSITORY}/releases/download/v{VERSION}/{name}\"\n      \
             sha256 \"{}\"\n    end\n",
            digest(&tarball.bytes),
        );
    }
    text.push_str(INSTALL);
    Artifact {
        name: "callgate.rb".to_owned(),
        bytes: text.into_bytes(),
    }
}

const INSTALL: &str = r##"  end

  def install
    if OS.mac?
      system "cargo", "install", *std_cargo_args(path: "host-shim/command")
      generate_completions_from_executable(bin/"callgate", "completions")
    else
      bin.install "callgate"
      man1.install Dir["man/*"]
      bash_completion.install "completions/callgate.bash" => "callgate"
      fish_completion.install "completions/callgate.fish"
      zsh_completion.install "completions/_callgate"
    end
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/callgate --version")
  end
end
"##;
