use super::*;
use crate::job::{Request, Terms};

fn job(number: u64, lead: Option<u64>) -> Job {
    let mut job = Job::new(number, Time::new(number as f64), Request::Nodes(1), 1.0);
    let after = lead.map(|number| After { number, think: 2.0 });
    job.terms = after.map(|_| Box::new(Terms { after, ..Terms::default() }));
    job
}

#[test]
fn those_that_follow_others_come_first_and_know_how_many_ends_to_wait_for() {
    let jobs = vec![job(1, None), job(2, Some(3)), job(3, None), job(3, Some(1)), job(4, Some(9))];
    let followed = Followed::among(&jobs);
    assert_eq!(followed.cycle(&jobs), None);
    let handed = |replay| -> Vec<(u64, f64, u32)> {
        let all = followed.hand_out(jobs.clone(), replay).into_iter();
        all.map(|item| match item {
            Submission::Following(own) => (own.job.number, own.job.arrival.units(), own.ends),
            Submission::Job(job) => (job.number, job.arrival.units(), 0),
            Submission::Unusable(_) => panic!("all are jobs"),
        })
        .collect()
    };
    let others = [(1, 1.0, 0), (3, 3.0, 0), (4, 4.0, 0)];
    assert_eq!(handed(Replay::Held), [&[(2, 2.0, 2), (3, 3.0, 1)][..], &others].concat());
    assert_eq!(handed(Replay::Closed), [&[(2, 0.0, 2), (3, 0.0, 1)][..], &others].concat());
}

#[test]
fn of_several_jobs_with_one_number_all_are_waited_for() {
    // The second of two jobs numbered 3 follows job 2, which follows both jobs numbered 3.
    let jobs = vec![job(1, None), job(2, Some(3)), job(3, None), job(3, Some(2))];
    let cycle = Followed::among(&jobs).cycle(&jobs);
    assert_eq!(cycle.as_deref(), Some("job 2 follows job 3 follows job 2"));
}
