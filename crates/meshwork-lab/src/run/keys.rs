//! Keys of the runs of a study.

use meshwork::catalogue::Catalogue;

use crate::run::store::Keys;
use crate::study::expand::Point;

/// Keys of the replications of one scenario.
pub(crate) struct PointKeys<'a> {
    catalogue: &'a Catalogue,
    point: &'a Point,
    digest: Option<String>,
    build: &'a str,
    /// Key parts common to all replications; `None` if each is a window of its own.
    shared: Option<Keys>,
}

impl<'a> PointKeys<'a> {
    /// Keys of a scenario that reads files with this digest, run by this build.
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

    /// The key of a replication; `None` if no such run is possible.
    pub(crate) fn of_replication(&self, replication: u64) -> Option<u128> {
        if let Some(shared) = &self.shared {
            return Some(shared.key(replication));
        }
        let scenario = self.point.scenario_of(self.catalogue, replication).ok()?;
        Some(Keys::of(scenario.table(), self.digest.as_deref(), self.build).key(replication))
    }
}
