//! Answers about real repositories, compared with those of the installed git.

mod random;
mod world;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;

use callgate_engine::host::Host as _;
use world::World;

const REMOTES: &str = r#"
[remote "origin"]
    url = https://one.example/a
    url = https://two.example/a
[remote "push"]
    url = https://one.example/a
    pushurl = https://three.example/a
    pushurl = git@four.example:a
[remote "short"]
    url = gh:a/b
[remote "pushed"]
    url = pu:a/b
    url = https://two.example/b
[remote "both"]
    url = pu:a/b
    pushurl = gh:a/c
    pushurl = pu:x
[remote "only/push.only"]
    pushurl = gh:p
[remote "some.dotted/name"]
    url = /srv/git/a b.git
[remote.Dotted]
    url = ../relative
[remote "UPPER"]
    URL = "https://five.example/#a"
[url "https://github.example/"]
    insteadOf = gh:
[url "https://longer.example/"]
    insteadOf = gh:a/
[url "https://never.example/"]
    insteadOf = gh:a/
[URL "git@push.example:"]
    pushInsteadOf = pu:
    PushInsteadOf = https://two.example/
"#;

#[test]
fn named_remotes_stand_for_what_git_says() {
    let world = World::new(REMOTES);
    world.check_named("repo");
    fs::create_dir_all(world.path("repo/deep/er")).unwrap();
    world.check_named("repo/deep/er");
    world.check_named("repo/.git/refs");
    // A path that does not exist yet belongs to the repository in which it would be created.
    assert_eq!(world.named("repo/not/yet", "short"), world.named("repo", "short"));
    assert_eq!(
        world.named("repo", "short").unwrap(),
        ["https://longer.example/b"]
    );
    assert_eq!(world.named("repo", "nothing").unwrap(), [""; 0]);
    assert_eq!(world.named("repo", "Origin").unwrap(), [""; 0]);
    assert_eq!(world.named(".", "origin").unwrap(), [""; 0]);
}

#[test]
fn a_name_that_git_would_rewrite_or_expand_stands_for_that() {
    let world = World::new(
        "[remote \"a\"]\nurl = https://a.example\n[remote \"b\"]\nurl = https://b.example\n\
         [remotes]\nall = a inner\tb\ninner = c\n[remote \"c\"]\nurl = https://c.example\n\
         [url \"https://evil.example/\"]\ninsteadOf = nick\n[remote \"help\"]\nvcs = ext\nurl = sh\n",
    );
    #[track_caller]
    fn check(world: &World, name: &str, expected: &[&str]) {
        let ours: BTreeSet<String> = world.named("repo", name).unwrap().into_iter().collect();
        assert_eq!(ours, expected.iter().map(|url| (*url).to_owned()).collect());
    }
    check(&world, "nickname", &["https://evil.example/name"]);
    assert_eq!(
        world.git("repo", &["ls-remote", "--get-url", "nickname"]),
        ["https://evil.example/name"]
    );
    check(
        &world,
        "all",
        &[
            "all",
            "inner",
            "https://a.example",
            "https://b.example",
            "https://c.example",
        ],
    );
    world.check_refused("repo", "help", "`git-remote-ext`");
}

#[test]
fn explicit_urls_are_rewritten_as_git_does() {
    let world = World::bare_of_repositories();
    world.append(
        ".gitconfig",
        "[url \"https://github.example/\"]\ninsteadOf = gh:\n[url \"push.example:\"]\npushInsteadOf = gh:\n\
         pushInsteadOf = https://two.example/\n[url \"/srv/\"]\ninsteadOf = https://two.example/deep/\n",
    );
    world.git(".", &["init", "--quiet", "repo"]);
    for url in [
        "gh:a",
        "https://two.example/b",
        "https://two.example/deep/b",
        "https://one.example",
        "/a/b",
    ] {
        world.check_url("repo", url);
    }
    // The name of a remote may be a URL.
    world.append(
        "repo/.git/config",
        "[remote \"https://named.example/a\"]\nurl = https://evil.example/a\n",
    );
    let named = "https://named.example/a";
    assert_eq!(
        world.git("repo", &["ls-remote", "--get-url", named]),
        ["https://evil.example/a"]
    );
    let ours = world.host.git_url(&world.text("repo"), named).unwrap();
    // `git clone` in the repository would use the URL itself.
    assert_eq!(ours, ["https://evil.example/a", named]);
}

#[test]
fn a_fetch_or_push_without_an_argument_goes_where_git_goes() {
    #[track_caller]
    fn check(config: &str, expected: &[&str]) {
        World::new(config).check_default("repo", expected);
    }
    check("", &[]);
    check("[remote \"origin\"]\nurl = /o\npushurl = /p\n", &["/o", "/p"]);
    check("[remote \"one\"]\nurl = /one\n", &["/one"]);
    check(
        "[remote \"one\"]\nurl = /one\n[remote \"two\"]\nurl = /two\n",
        &[],
    );
    check(
        "[remote \"one\"]\nurl = /one\n[remote \"origin\"]\nurl = /o\n",
        &["/o"],
    );
    let remotes = "[remote \"origin\"]\nurl=/o\n[remote \"f\"]\nurl=/f\n[remote \"p\"]\nurl=/p\n[remote \"d\"]\nurl=/d\n";
    let check_all = |config: &str, expected| check(&format!("{remotes}{config}"), expected);
    check_all("[branch \"main\"]\nremote = f\n", &["/f"]);
    check_all("[branch \"Main\"]\nremote = f\n", &["/o"]);
    check_all("[branch \"main\"]\nremote = f\npushRemote = p\n", &["/f", "/p"]);
    check_all("[remote]\npushDefault = d\n", &["/o", "/d"]);
    check_all(
        "[branch \"main\"]\nremote = f\n[remote]\npushDefault = d\n",
        &["/f", "/d"],
    );
    check_all(
        "[branch \"main\"]\npushRemote = p\n[remote]\npushDefault = d\n",
        &["/o", "/p"],
    );
    check_all("[branch \"main\"]\nremote = .\n", &["."]);
    check_all("[branch \"main\"]\nremote = /x/y\n", &["/x/y"]);
    check_all("[branch \"main\"]\nremote = f\nremote = p\n", &["/p"]);
    check_all("[fetch]\nall\n", &["/o", "/f", "/p", "/d"]);
    check_all("[fetch]\nall = 0\n", &["/o"]);
}

#[test]
fn the_branch_is_read_from_every_kind_of_head() {
    let world = World::new(
        "[remote \"origin\"]\nurl=/o\n[remote \"f\"]\nurl=/f\n[remote \"d\"]\nurl=/d\n[branch \"a/b\"]\nremote=f\n",
    );
    world.check_default("repo", &["/o"]);
    world.git("repo", &["commit", "--quiet", "--allow-empty", "-m", "c"]);
    world.git("repo", &["checkout", "--quiet", "-b", "a/b"]);
    world.check_default("repo", &["/f"]);
    world.git("repo", &["pack-refs", "--all"]);
    world.check_default("repo", &["/f"]);
    world.git("repo", &["symbolic-ref", "refs/heads/alias", "refs/heads/a/b"]);
    world.git("repo", &["symbolic-ref", "HEAD", "refs/heads/alias"]);
    world.check_default("repo", &["/f"]);
    world.git("repo", &["checkout", "--quiet", "--detach"]);
    world.check_default("repo", &["/o"]);
    world.append("repo/.git/config", "[remote]\npushDefault = d\n");
    world.check_default("repo", &["/o", "/d"]);
    fs::remove_file(world.path("repo/.git/HEAD")).unwrap();
    symlink("refs/heads/a/b", world.path("repo/.git/HEAD")).unwrap();
    world.check_default("repo", &["/f", "/d"]);
    fs::remove_file(world.path("repo/.git/HEAD")).unwrap();
    fs::write(world.path("repo/.git/HEAD"), "ref: refs/heads/.invalid\n").unwrap();
    world
        .host
        .git_default_remote_urls(&world.text("repo"))
        .unwrap_err();
}

#[test]
fn worktrees_submodules_and_bare_repositories_are_found() {
    let world = World::new("[remote \"origin\"]\nurl=/o\n[branch \"w\"]\nremote=origin\npushRemote=/w\n");
    world.git("repo", &["commit", "--quiet", "--allow-empty", "-m", "c"]);
    world.git("repo", &["worktree", "add", "--quiet", "-b", "w", "../tree"]);
    world.check_named("tree");
    world.check_default("tree", &["/o", "/w"]);
    world.check_default("repo", &["/o"]);

    // The configuration of one worktree counts once the extension is switched on.
    world.append(
        "repo/.git/worktrees/tree/config.worktree",
        "[remote \"origin\"]\npushurl=/tree\n",
    );
    world.check_default("tree", &["/o", "/w"]);
    world.git("repo", &["config", "extensions.worktreeConfig", "true"]);
    world.check_default("tree", &["/o", "/tree", "/w"]);
    world.check_named("tree");
    world.check_named("repo");

    fs::create_dir(world.path("modules")).unwrap();
    world.git(
        ".",
        &["init", "--quiet", "--separate-git-dir", "modules/sub", "repo/sub"],
    );
    world.git("repo/sub", &["remote", "add", "origin", "/sub"]);
    world.check_named("repo/sub");
    world.check_default("repo/sub", &["/sub"]);

    world.git(".", &["init", "--quiet", "--bare", "bare.git"]);
    world.git("bare.git", &["remote", "add", "origin", "/bare"]);
    world.check_named("bare.git");
    world.check_named("bare.git/objects");

    symlink("repo", world.path("link")).unwrap();
    world.check_named("link");
}

#[test]
fn what_only_looks_like_a_repository_is_passed_over_as_git_does() {
    let world = World::new("[remote \"origin\"]\nurl=/outer\n");
    for folder in ["repo/a/.git", "repo/b/.git/objects", "repo/b/.git/refs"] {
        fs::create_dir_all(world.path(folder)).unwrap();
    }
    fs::write(world.path("repo/b/.git/HEAD"), "nonsense").unwrap();
    fs::write(
        world.path("repo/b/.git/config"),
        "[remote \"origin\"]\nurl=/inner\n",
    )
    .unwrap();
    world.check_named("repo/a");
    world.check_named("repo/b");
    assert_eq!(world.named("repo/b", "origin").unwrap(), ["/outer"]);
    fs::write(world.path("repo/b/.git/HEAD"), "ref:  refs/heads/x").unwrap();
    world.check_named("repo/b");
    assert_eq!(world.named("repo/b", "origin").unwrap(), ["/inner"]);

    fs::create_dir(world.path("repo/c")).unwrap();
    for content in [
        "gitdir: ../nothing",
        "gitdir:../.git",
        "",
        "gitdir: /proc/self/cwd",
    ] {
        fs::write(world.path("repo/c/.git"), content).unwrap();
        assert!(!world.run("repo/c", &["remote"]).0);
        world.named("repo/c", "origin").unwrap_err();
    }
}

#[test]
fn scopes_and_includes_follow_one_another_as_in_git() {
    let world = World::new("[include]\npath = ../../more\n[branch \"main\"]\nremote = last\n");
    world.append(
        "system",
        "[remote \"system\"]\nurl = s:1\n[url \"/system/\"]\ninsteadOf = s:\n",
    );
    world.append(
        ".config/git/config",
        "[remote \"xdg\"]\nurl = s:2\n[Include]\npath = ~/sub/tilde\n",
    );
    world.append(
        ".gitconfig",
        "[remote \"user\"]\nurl = u:3\n[INCLUDE]\nPath = sub/relative\npath = missing\n",
    );
    world.append("sub/tilde", "[include]\npath = further\n");
    world.append("sub/further", "[remote \"further\"]\nurl = u:4\n");
    world.append("sub/relative", "[url \"/user/\"]\ninsteadOf = u:\n");
    world.append(
        "more",
        "[remote \"more\"]\nurl = u:5\n[branch \"main\"]\nremote = more\n",
    );
    world.check_named("repo");
    assert_eq!(world.named("repo", "further").unwrap(), ["/user/4"]);
    world.check_default("repo", &["last"]);
    // Outside of repositories, the files of the machine and the user count.
    assert_eq!(world.named(".", "xdg").unwrap(), ["/system/2"]);

    world.append("more", "[include]\npath = more\n");
    world.check_refused("repo", "more", "includes deep");
}

#[test]
fn conditional_includes_hold_when_they_do_in_git() {
    #[track_caller]
    fn check(condition: &str) {
        let config = format!("[includeIf \"{condition}\"]\npath = HOME/there\n");
        let world = World::new("[remote \"origin\"]\nurl = https://x.example/a/b\n");
        world.append("there", "[url \"/there/\"]\ninsteadOf = https://\n");
        world.append(".gitconfig", &config);
        world.append("sub/own", &config);
        world.append(".gitconfig", "[include]\npath = sub/own\n");
        world.git("repo", &["commit", "--quiet", "--allow-empty", "-m", "c"]);
        for (branch, tree) in [("topic/x", "tree"), ("other", "sub/tree")] {
            world.git(
                "repo",
                &["worktree", "add", "--quiet", "-b", branch, &world.text(tree)],
            );
        }
        world.git(".", &["init", "--quiet", "sub/repo"]);
        world.git("sub/repo", &["remote", "add", "origin", "https://y.example/a"]);
        for directory in ["repo", "tree", "sub/tree", "sub/repo"] {
            eprintln!("{condition} in {directory}");
            world.check_named(directory);
        }
    }
    for condition in [
        "gitdir:~/repo/",
        "gitdir:~/REPO/",
        "gitdir/i:~/REPO/",
        "gitdir:HOME/repo/.git",
        "gitdir:HOME/repo",
        "gitdir:repo/",
        "gitdir:repo/**",
        "gitdir:./",
        "gitdir:./repo/.git",
        "gitdir/i:./REPO/",
        "gitdir:HOME/*/.git",
        "gitdir:HOME/**/.git",
        "gitdir:**/worktrees/*",
        "gitdir:**/worktrees/tre[a-f]",
        "onbranch:main",
        "onbranch:topic/",
        "onbranch:topic/*",
        "onbranch:*",
        "onbranch:**",
        "hasconfig:remote.*.url:https://x.example/**",
        "hasconfig:remote.*.url:https://x.example/*",
        "hasconfig:remote.*.url:https://*.example/a/b",
        "hasconfig:remote.*.url:https://z/",
    ] {
        check(condition);
    }
}

#[test]
fn what_cannot_be_told_is_refused() {
    #[track_caller]
    fn check(config: &str, part: &str) {
        World::new(config).check_refused("repo", "origin", part);
    }
    check("[remote \"origin\"\nurl = x\n", "config`, line 6: ");
    check("[remote \"origin\"]\nurl = \"x\n", "config`, line 7: ");
    check(
        "[remote \"origin\"]\nurl = a\0b\n",
        "config`, line 7: expected text, found a NUL",
    );
    check("[remote \"origin\"]\nurl\n", "`remote.origin.url`");
    check("[include]\npath\n", "`include.path`");
    check("[include]\npath = ~someone/config\n", "~someone/config");
    check("[include]\npath = %(prefix)/config\n", "%(prefix)/config");
    check("[include]\npath = /proc/self/cwd/config\n", "cannot be resolved");
    check("[include]\npath = /dev/zero\n", "not a regular file");
    check("[include]\npath = ../\n", "not a regular file");
    check("[includeIf \"moon:full\"]\npath = x\n", "moon:full");
    let stars = "*".repeat(65);
    check(
        &format!("[includeIf \"onbranch:{stars}\"]\npath = x\n"),
        "more than 64 stars",
    );
    let long = "x".repeat(33_000);
    check(
        &format!("[remote \"origin\"]\nurl = {long}\n"),
        "longer than 32768 bytes",
    );
    check(
        &format!("[remote \"origin\"]\n{}", "url = /x\n".repeat(1_001)),
        "more than 1000 URLs",
    );
    check("[extensions]\nworktreeConfig = perhaps\n", "worktreeconfig");
    check("[core]\nrepositoryFormatVersion = 2\n", "version is 2");
    check("[extensions]\nobjectFormat = sha1\n", "`extensions.objectformat`");
    check("[core]\nworktree = ../nowhere\n", "`core.worktree`");
    check(
        "[remote]\nurl = /x\n[remote \"\"]\nurl = /x\n",
        "a name before it",
    );
    check("[remote \"origin\"]\nurl = ext::sh -c id\n", "`git-remote-ext`");
    check(
        "[remote \"origin\"]\nurl = some://host/path\n",
        "`git-remote-some`",
    );
    check("[remote \"origin\"]\nurl = a\nvcs =\n", "`git-remote-`");
    let urls = "[remote \"o\"]\nurl = /o\n[includeIf \"hasconfig:remote.*.url:/o\"]\npath = ../../with\n";
    let world = World::new(urls);
    world.append("with", "[remote \"x\"]\nurl = /x\n");
    assert!(!world.run("repo", &["remote"]).0);
    world.check_refused("repo", "o", "included on a condition");
    for folder in ["remotes", "branches"] {
        let world = World::new("");
        world.append(&format!("repo/.git/{folder}/origin"), "URL: /legacy\n");
        world.check_refused("repo", "origin", "legacy");
        world.append("repo/.git/config", "[remote \"origin\"]\nurl = /own\n");
        world.check_named("repo");
    }
}

#[test]
fn empty_urls_hide_nothing() {
    let world = World::new("[remote \"origin\"]\nurl = /old\nurl =\nurl = /new\npushurl = /p\npushurl =\n");
    let ours: BTreeSet<String> = world.named("repo", "origin").unwrap().into_iter().collect();
    assert_eq!(ours, ["/old", "/new", "/p"].map(str::to_owned).into());
}

#[test]
fn a_configuration_linked_to_the_null_device_is_empty() {
    let world = World::new("[remote \"origin\"]\nurl = /o\n");
    symlink("/dev/null", world.path(".gitconfig")).unwrap();
    world.check_named("repo");
}

#[test]
fn extensions_count_where_the_format_has_a_version() {
    #[track_caller]
    fn check(version: &str, expected: &[&str]) {
        let world = World::new("");
        let config = format!("{version}[extensions]\nworktreeConfig = true\n[remote \"origin\"]\nurl = /o\n");
        fs::write(world.path("repo/.git/config"), config).unwrap();
        world.append(
            "repo/.git/config.worktree",
            "[remote \"origin\"]\npushurl = /own\n",
        );
        world.check_named("repo");
        assert_eq!(world.named("repo", "origin").unwrap(), expected);
    }
    check("[core]\nrepositoryFormatVersion = 0\n", &["/o", "/own"]);
    check("[core]\nrepositoryFormatVersion = 1\n", &["/o", "/own"]);
    check("", &["/o"]);
}
