//! Every key that a value has, for whoever looks at all patterns at once.

use super::domain::is_ip_address;
use super::host::HostKind;
use super::key::{Key, Scopes};
use super::location::Location;

/// The kind of a location, whatever patterns there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LocationKind {
    /// A host by its name.
    Name,
    /// A name of this machine.
    Loopback,
    /// An IP address.
    Address,
    /// Something at a host that programs may read otherwise, or by another protocol.
    UnclearName,
    /// The same at an IP address.
    UnclearAddress,
    /// A text that names no host.
    Text,
    /// Nobody could tell.
    Unknown,
}

impl Location {
    /// The kind of the location, whatever patterns there are. `value` is the text that it was read from.
    pub fn kind(&self, value: &str) -> LocationKind {
        match self.host_kind() {
            Some(HostKind::Name) => LocationKind::Name,
            Some(HostKind::Loopback) => LocationKind::Loopback,
            Some(HostKind::Address) => LocationKind::Address,
            None if self.is_unknown() => LocationKind::Unknown,
            None if self.display_domain() == value => LocationKind::Text,
            None if is_ip_address(self.shown_host()) => LocationKind::UnclearAddress,
            None => LocationKind::UnclearName,
        }
    }

    /// The host that is shown.
    pub fn shown_host(&self) -> &str {
        let domain = self.display_domain();
        domain.split_once('/').map_or(domain, |(host, _)| host)
    }

    /// The keys by which patterns can grant the value, and those by which they can restrict it.
    pub fn keys(&self) -> [Vec<Key<'static>>; 2] {
        let (mut granting, mut restricting) = (Vec::new(), Vec::new());
        let keep = |key: &Key<'_>, keys: &mut Vec<Key<'static>>| {
            keys.push(key.clone().into_owned());
            None::<()>
        };
        let _: Option<()> = self.first_granting(Scopes::ALL, |key| keep(key, &mut granting));
        let _: Option<()> = self.first(Scopes::ALL, |key| keep(key, &mut restricting));
        [granting, restricting]
    }
}
