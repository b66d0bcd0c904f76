//! From an address to a place that is visible in the mode.

use super::address::{Address, Base};
use super::condition::Subject;
use super::context::Context;
use super::place::Located;
use super::reply::{Reply, ReplyData};
use super::{Directory, World, find};
use crate::cost::KNOWN_PATH;
use crate::model::ReplyCode;
use crate::path::{CanonicalPath, Resolver, lexical};

impl World {
    /// The place that the address names, if it is visible in the mode.
    ///
    /// A root that is never visible in the mode is refused before the disk is asked, so that the answer reveals
    /// nothing about it.
    pub fn resolve_address(
        &self,
        text: &str,
        mode: Option<&str>,
        context: &Context,
        resolver: &mut Resolver<'_, '_>,
    ) -> Result<Located, Box<Reply>> {
        let mode = mode.ok_or_else(|| Reply::bare(ReplyCode::NoMode))?;
        let address = Address::parse(text).ok_or_else(|| invalid("form"))?;
        let root = match address.base {
            Base::Mod(name) => {
                let mount = find(&self.mounts, name).filter(|_| context.has_mod(name));
                let mount = mount.ok_or_else(|| invalid("unknown-mod"))?;
                // Mounted mods are always visible.
                return self.place_in_mod(mount, address.relative, resolver);
            }
            Base::Root(key) => find(&self.roots, key),
            Base::LegacyRoot(key) => {
                let is_meant = |name: &str| {
                    let upper = name.bytes().map(|byte| byte.to_ascii_uppercase());
                    name.len() == key.len() && upper.eq(key.bytes())
                };
                resolver.facts.take_steps(self.roots.len());
                self.roots.iter().find(|root| is_meant(&root.name))
            }
        };
        let root = root.ok_or_else(|| invalid("unknown-root"))?;
        if self.visibility.of_root(mode, &root.name).next().is_none() {
            return Err(not_visible(mode, &root.name, None, Vec::new()));
        }
        let located = place_in_root(root, address.relative, resolver)?;
        self.check_visible(&located, mode, context, resolver)?;
        Ok(located)
    }

    fn check_visible(
        &self,
        located: &Located,
        mode: &str,
        context: &Context,
        resolver: &mut Resolver<'_, '_>,
    ) -> Result<(), Box<Reply>> {
        let subdirectory = located.subdirectory.as_deref();
        let case = resolver.path_case;
        let mut rows = self.visibility.at(mode, &located.root, subdirectory, case);
        let refuse = |unmet| Err(not_visible(mode, &located.root, subdirectory, unmet));
        let Some(conditions) = rows.next() else {
            return refuse(Vec::new());
        };
        let subject = Subject {
            context,
            mode,
            root: &located.root,
            subdirectory,
            located: Some(located),
            action: None,
        };
        let unmet = self.unmet(conditions, &subject, resolver);
        if unmet.is_empty() {
            return Ok(());
        }
        refuse(unmet)
    }

    fn place_in_mod(
        &self,
        mount: &Directory,
        relative: &str,
        resolver: &mut Resolver<'_, '_>,
    ) -> Result<Located, Box<Reply>> {
        let (directory, path, written) = resolve(mount, relative, resolver)?;
        let mut holder: Option<(&Directory, CanonicalPath)> = None;
        resolver.facts.take_steps(self.roots.len() * KNOWN_PATH);
        if resolver.facts.has_failed() {
            return Err(invalid("unresolvable").into());
        }
        for root in &self.roots {
            let candidate = canonical(&root.path, resolver)?;
            let nearer = |known: &CanonicalPath| candidate != *known && candidate.is_within(known);
            if directory.is_within(&candidate) && holder.as_ref().is_none_or(|(_, known)| nearer(known)) {
                holder = Some((root, candidate));
            }
        }
        // Operations are listed by root, so a mod outside every root has none.
        let (root, root_path) = holder.ok_or_else(|| invalid("unresolvable"))?;
        let relative = path.below(&directory).ok_or_else(|| invalid("unresolvable"))?;
        let below_root = path.below(&root_path).ok_or_else(|| invalid("unresolvable"))?;
        Ok(Located {
            address: format!("mod:{}/{relative}", mount.name),
            root: root.name.clone(),
            subdirectory: first_name(below_root),
            relative: relative.into(),
            mod_name: Some(mount.name.clone()),
            lexical: written,
            path,
        })
    }
}

fn place_in_root(
    root: &Directory,
    relative: &str,
    resolver: &mut Resolver<'_, '_>,
) -> Result<Located, Box<Reply>> {
    let (directory, path, written) = resolve(root, relative, resolver)?;
    let relative = path.below(&directory).ok_or_else(|| invalid("unresolvable"))?;
    Ok(Located {
        address: format!("root:{}/{relative}", root.name),
        root: root.name.clone(),
        subdirectory: first_name(relative),
        relative: relative.into(),
        mod_name: None,
        lexical: written,
        path,
    })
}

/// The canonical directory, the canonical path below it, and that as it is written.
fn resolve(
    base: &Directory,
    relative: &str,
    resolver: &mut Resolver<'_, '_>,
) -> Result<(CanonicalPath, CanonicalPath, Box<str>), Box<Reply>> {
    let directory = canonical(&base.path, resolver)?;
    let text = format!("{}/{relative}", directory.as_str());
    let path = canonical(&text, resolver)?;
    Ok((directory, path, lexical(&text, "/").as_ref().into()))
}

fn first_name(relative: &str) -> Option<Box<str>> {
    let first = relative.split('/').next();
    first.filter(|name| !name.is_empty()).map(Box::from)
}

fn invalid(reason: &'static str) -> Reply {
    Reply {
        code: ReplyCode::InvalidAddress,
        data: ReplyData::Fault { reason },
    }
}

/// A canonical path. A path that leaves its root, one without a canonical form and a failing host get the same reply,
/// which reveals nothing about the disk.
fn canonical(path: &str, resolver: &mut Resolver<'_, '_>) -> Result<CanonicalPath, Box<Reply>> {
    let path = resolver.resolve(path, "/").map_err(|_| invalid("unresolvable"))?;
    if resolver.facts.has_failed() {
        return Err(invalid("unresolvable").into());
    }
    Ok(path)
}

fn not_visible(
    mode: &str,
    root: &str,
    subdirectory: Option<&str>,
    failed_conditions: Vec<String>,
) -> Box<Reply> {
    Reply::judgement(ReplyCode::NotVisible, mode, root, subdirectory, failed_conditions).into()
}
