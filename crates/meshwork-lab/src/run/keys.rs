//! Keys under which the runs of a study are stored.

use meshwork::catalogue::Catalogue;

use crate::run::store::Keys;
use crate::study::expand::Point;

pub(crate) struct PointKeys<'a> {
    catalogue: &'a Catalogue,
    point: &'a Point,
    digest: Option<String>,
    build: &'a str,
    /// Part of the store key that is the same for all replications.
    ///
    /// `None` if each replication is a window of the log, because the windows' scenarios differ.
    shared: Option<Keys>,
}

impl<'a> PointKeys<'a> {
    pub(crate) fn of(
        catalogue: &'a Catalogue,
        point: &'a Point,
        digest: Option<String>,
        build: &'a str,
    ) -> PointKeys<'a> {
        let is_shared = point.windows.is_none();
        let shared = is_shared.then(|| Keys::of(point.scenario.table(), digest.as_deref(), build));
        PointKeys { catalogue, point, digest, build, shared }
    }

    /// Store key of a replication. `None` if the replication's window of the log is too short.
    pub(crate) fn of_replication(&self, replication: u64) -> Option<u128> {
        if let Some(shared) = &self.shared {
            return Some(shared.key(replication));
        }
        let scenario = self.point.scenario_of(self.catalogue, replication).ok()?;
        Some(Keys::of(scenario.table(), self.digest.as_deref(), self.build).key(replication))
    }
}
