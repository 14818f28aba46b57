use std::fs;

use super::*;
use crate::trace::{Converted, convert};

/// Converts a made-up sample of a trace. Returns the table of jobs and the result.
fn converted(name: &str, text: &str, to: &str) -> Result<(String, Converted), String> {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join(name), folder.path().join(to));
    fs::write(&input, text).unwrap();
    let done = convert(&input, &output, &toml::Table::new(), (1, 0));
    let shown = folder.path().display().to_string() + "/";
    let done = done.map_err(|error| error.to_string().replace(&shown, ""))?;
    Ok((fs::read_to_string(&output).unwrap(), done))
}

fn table(name: &str, text: &str) -> (String, Converted) {
    converted(name, text, "jobs.csv").unwrap()
}

fn cells(table: &str, columns: &[&str]) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let header = reader.headers().unwrap().clone();
    let find = |name: &str| header.iter().position(|column| column == name);
    let place =
        |name: &&str| find(name).unwrap_or_else(|| panic!("{name} is no column of {table}"));
    let places: Vec<usize> = columns.iter().map(place).collect();
    let row = |row: csv::StringRecord| {
        places.iter().map(|&place| row[place].to_owned()).collect::<Vec<_>>().join(" ")
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

fn says(done: &Converted, what: &str) {
    assert!(done.lost.iter().any(|said| said.contains(what)), "{what} in {:#?}", done.lost);
}

const PODS: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
pod-0,1500,2048,1,460,,LS,Running,0,100,20
pod-1,64000,4096,8,1000,G1|G2,BE,Succeeded,50,350,50
pod-2,1000,1024,0,0,,BE,Pending,60,90,
";

#[test]
fn pods_of_openb() {
    let (jobs, done) = table("pods.csv", PODS);
    assert_eq!(cells(&jobs, &["submit", "runtime", "wait"]), ["0 80 20", "50 300 0"]);
    let pieces = cells(&jobs, &["pieces", "cpu", "mem", "gpu", "type"]);
    assert_eq!(pieces, ["1 2 2048 0.46 *", "1 64 4096 8 G1|G2"]);
    assert_eq!((done.lines, done.jobs, done.no_run_time), (3, 2, 1));
    says(&done, "read as Alibaba openb 2023, pods");
    says(&done, "qos of 3 jobs");
}

#[test]
fn nodes_become_a_machine() {
    let text = "sn,cpu_milli,memory_mib,gpu,model\nn-1,96000,786432,8,V100M32\nn-0,32000,262144,0,\nn-2,96000,786432,8,V100M32\n";
    let (study, done) = converted("nodes.csv", text, "machine.toml").unwrap();
    let table: toml::Table = study.parse().unwrap();
    assert_eq!(table["machine"]["processors"].as_integer(), Some(3));
    assert!(study.contains("# 2 nodes: cpu 96, mem 786432, gpu 8, model V100M32\n"), "{study}");
    assert_eq!(done.nodes, 3);
    let kinds = "[{ type = \"plain\", on = \"0\", cpu = 32, mem = 262144 }, \
                 { type = \"V100M32\", on = \"1-2\", cpu = 96, mem = 786432, gpu = 8, gpu_type = \"V100M32\" }]";
    let kinds: toml::Table = format!("nodes = {kinds}").parse().unwrap();
    assert_eq!(table["machine"]["nodes"], kinds["nodes"]);
    let mut scenario = table;
    scenario.insert(
        "workload".to_owned(),
        "name = 'table'\npath = 'x'".parse::<toml::Table>().unwrap().into(),
    );
    meshwork::scenario::Scenario::read(&scenario).unwrap();
    let refused = converted("nodes.csv", text, "jobs.csv").unwrap_err();
    assert_eq!(
        refused,
        "nodes.csv: this lists the nodes of a machine (Alibaba openb 2023, nodes): write it to a file that ends in .toml"
    );
    let refused = converted("pods.csv", PODS, "machine.toml").unwrap_err();
    assert!(refused.starts_with("pods.csv: this is Alibaba openb 2023, pods: only a table"));
}

#[test]
fn jobs_and_nodes_of_the_spot_trace() {
    let text = "job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,job_type\n\
        239,13,A10,20,1,1,0,2764,HP\n240,57,A100-SXM4-80GB,15,1,16,95,410,Spot\n";
    let (jobs, done) = table("job_info_df.csv", text);
    let columns = ["job", "submit", "runtime", "group", "priority"];
    assert_eq!(cells(&jobs, &columns), ["239 0 2764 13 1", "240 95 410 57 "]);
    assert_eq!(done.unusable(), 0);
    let wrong = text.replace("Spot", "Cheap");
    assert_eq!(
        converted("jobs.csv", &wrong, "out.csv").unwrap_err(),
        "jobs.csv:3: `job_type` is `Cheap`, but must be one of HP, Spot"
    );
    let nodes = "node_name,gpu_model,gpu_capacity_num,cpu_num\n0,A10,4,192\n1,A10,1,128\n";
    assert_eq!(converted("node_info_df.csv", nodes, "m.toml").unwrap().1.nodes, 2);
}

#[test]
fn pods_by_hour_are_joined() {
    let text = "pod_id,workload_id,server_id,cluster_id,state_public,gpu_spec_public,priority_class,job_type_public,gpu_request,cpu_request_cores,schedule_delay_sec,day,hour\n\
        a,w,s1,c,Pending,G,HP,training,0.5,4,30,0,0\na,w,s1,c,Running,G,HP,training,0.5,4,30,0,1\n\
        b,,s2,c,Running,G,LP,dev,8,4,,0,2\na,w,s1,c,Running,G,HP,training,0.5,4,30,0,03\n";
    let (jobs, done) = table("pods.csv", text);
    let columns = ["submit", "runtime", "group", "application", "priority"];
    assert_eq!(cells(&jobs, &columns), ["3600 10800 w training 1", "7200 3600  dev "]);
    says(&done, "joined to the first row of their job, in whole hours: 1 rows");
    says(&done, "left out, because the job does not run in them: 1 rows");
    says(&done, "server_id of 2 jobs");
    let servers = "server_id,cluster_id,asw_id,gpu_spec_public,gpu_count,cpu_capacity_cores,day,hour\n\
        s3,c2,x,G,8,64,0,0\ns1,c1,a,G,8,64,0,0\ns2,c1,b,G,8,64,0,0\ns1,c1,a,G,8,64,0,1\n";
    let (study, done) = converted("servers.csv", servers, "m.toml").unwrap();
    assert_eq!(done.nodes, 3);
    let table: toml::Table = study.parse().unwrap();
    let switches = table["allocator"]["switches"].as_array().unwrap();
    // Each access switch is a leaf switch. A cluster with several has a switch above them.
    assert_eq!(switches.len(), 4);
    assert_eq!(switches[3]["children"].as_array().unwrap().len(), 2);
    says(&done, "1 rows");
    let summary = "pod_id,duration_hours,schedule_status\na,1,true\n";
    let refused = converted("runs.csv", summary, "out.csv").unwrap_err();
    assert!(refused.contains("states no time of submission"), "{refused}");
}

#[test]
fn jobs_of_philly() {
    let machine = |gpus: &str| format!("{{\"ip\": \"m1\", \"gpus\": [{gpus}]}}");
    let attempt = |start: &str, end: &str, detail: &str| {
        format!("{{\"start_time\": {start}, \"end_time\": {end}, \"detail\": [{detail}]}}")
    };
    let job = |id: &str, attempts: &str| {
        format!(
            "{{\"status\": \"Pass\", \"vc\": \"v\", \"jobid\": \"app_{id}\", \"attempts\": [{attempts}], \
             \"submitted_time\": \"2017-10-07 01:00:00\", \"user\": \"u\"}}"
        )
    };
    let two = [machine("\"gpu0\", \"gpu1\""), machine("\"gpu0\", \"gpu1\"")].join(", ");
    let first = attempt("\"2017-10-07 01:01:00\"", "\"2017-10-07 01:02:00\"", &two);
    let second = attempt("\"2017-10-07 02:00:00\"", "\"2017-10-07 03:00:00\"", &two);
    let running = attempt("\"2017-10-07 02:00:00\"", "null", &two);
    let text = format!(
        "[{}, {}, {}]",
        job("1", &format!("{first}, {second}")),
        job("2", ""),
        job("3", &running)
    );
    let (jobs, done) = table("cluster_job_log.json", &text);
    let columns = ["submit", "runtime", "pieces", "gpu", "user", "queue", "wait"];
    assert_eq!(cells(&jobs, &columns), ["0 3660 2 2 u v 60"]);
    assert_eq!((done.lines, done.no_run_time), (3, 2));
    says(&done, "further attempts of 1 jobs");
    says(&done, "numbered by their rows, because their IDs are no whole numbers: of 3 jobs");
    let refused = converted("log.json", "{\"jobs\": 1}", "out.csv").unwrap_err();
    assert!(
        refused.starts_with("log.json: this is no list of jobs as in Philly's cluster_job_log")
    );
    let unequal =
        [machine("\"gpu0\", \"gpu1\""), machine("\"gpu0\", \"gpu1\", \"gpu2\"")].join(", ");
    let own = attempt("\"2017-10-07 02:00:00\"", "\"2017-10-07 03:00:00\"", &unequal);
    let (jobs, _) = table("cluster_job_log.json", &format!("[{}]", job("1", &own)));
    assert_eq!(cells(&jobs, &["runtime", "roles"]), ["3600 1*cpu=1,gpu=2+1*cpu=1,gpu=3"]);
    let machines = "machineId,number of GPUs,single GPU mem\nm1,8, 24GB\nm2,2, 12GB\n";
    assert_eq!(converted("machines.csv", machines, "m.toml").unwrap().1.nodes, 2);
}

#[test]
fn jobs_of_helios_and_acme() {
    let text = "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n\
        11,u,v,16,64,2,COMPLETED,2020-06-09 18:00:00,2020-06-09 18:01:00,2020-06-09 19:01:00,3600,60\n\
        12,u,v,0,1,1,CANCELLED,2020-06-09 18:00:00,,,,\n";
    let (jobs, done) = table("cluster_log.csv", text);
    let columns = ["job", "submit", "runtime", "pieces", "cpu", "gpu", "user", "queue", "wait"];
    assert_eq!(cells(&jobs, &columns), ["11 0 3600 2 32 8 u v 60"]);
    assert_eq!(done.no_run_time, 1);
    let text = "job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,shared_mem_per_pod,type,state,submit_time,start_time,end_time,fail_time,stop_time,duration,queue,gpu_time\n\
        dlc,u,8,64,960,1000,100.0,Pretrain,FAILED,2023-05-17 11:00:58+00:00,2023-05-17 11:01:08+00:00,2023-05-17 11:01:16+00:00,,,18,10.0,1152.0\n";
    let (jobs, done) = table("trace_kalos.csv", text);
    let columns = ["job", "runtime", "pieces", "cpu", "mem", "gpu", "application", "wait"];
    assert_eq!(
        cells(&jobs, &columns),
        ["1 8 8 120 1024000 8 Pretrain 10"],
        "not the `duration`, which counts from submission here"
    );
    says(&done, "shared_mem_per_pod of 1 jobs");
}

#[test]
fn jobs_of_marconi_fugaku_and_in2p3() {
    let text = "job_id,submit_time,eligible_time,start_time,end_time,run_time,time_limit,user_id,group_id,partition,num_nodes_req,num_cores_req,num_gpus_req,mem_req,shared,qos,power_consumption\n\
        7,2020-05-01 00:00:00,2020-05-01 00:00:00,2020-05-01 00:00:10,2020-05-01 00:10:10,600,30,5,6,1,4,512,16,237,0,2,x\n";
    let (jobs, done) = table("job_table.csv", text);
    let columns =
        ["job", "runtime", "estimate", "pieces", "cpu", "gpu", "exclusive", "user", "wait"];
    assert_eq!(cells(&jobs, &columns), ["7 600 1800 4 128 4 node 5 10"]);
    assert_eq!(cells(&jobs, &["group", "queue"]), ["6 1"]);
    let shared = text.replace(",237,0,2", ",237,1,2");
    let (jobs, _) = table("shared.csv", &shared);
    assert!(!jobs.contains("exclusive"), "{jobs}");
    says(&done, "mem_req of 1 jobs");
    says(&done, "no columns of this trace that are known: power_consumption");
    let text = "jid,usr,jnam,cnumr,nnumr,adt,sdt,edt,elpl,duration,pri,exit state\n\
        h1,u,n,384,8,2021-03-01 00:00:00,2021-03-01 00:00:30,2021-03-01 01:00:30,7200,3600,127,completed\n";
    let (jobs, _) = table("21_03.csv", text);
    let columns = ["submit", "runtime", "estimate", "pieces", "cpu", "user", "application", "wait"];
    assert_eq!(cells(&jobs, &columns), ["0 3600 7200 8 48 u n 30"]);
    let text = "JobID\tUser\tAccount\tPartition\tState\tSubmit\tStart\tEnd\tTimelimit\tAllocCPUS\tReqMem\n\
        9\tu\ta\thtc\tCOMPLETED\t2024-01-01T00:00:00\t2024-01-01T00:05:00\t2024-01-01T01:05:00\t1-00:00:00\t8\t16G\n\
        10\tu\ta\thtc\tCANCELLED\t2024-01-01T00:00:00\tUnknown\tUnknown\tUNLIMITED\t0\t512K\n";
    let (jobs, done) = table("01.tsv", text);
    let columns = ["job", "runtime", "estimate", "user", "group", "queue", "wait"];
    assert_eq!(cells(&jobs, &columns), ["9 3600 86400 u a htc 300"]);
    assert_eq!((done.jobs, done.no_run_time), (1, 1));
    let wrong = text.replace("1-00:00:00", "long");
    assert_eq!(
        converted("01.tsv", &wrong, "out.csv").unwrap_err(),
        "01.tsv:2: `timelimit` is `long`, but must be a time such as 1-12:00:00"
    );
}

#[test]
fn what_is_wrong_is_one_sentence() {
    for (name, text, to, sentence) in [
        (
            "pods.csv",
            PODS.replace("460", "much"),
            "out.csv",
            "pods.csv:2: `gpu_milli` is `much`, but must be a number",
        ),
        (
            "pods.csv",
            PODS.replace(",0,100,20", ",monday,100,20"),
            "out.csv",
            "pods.csv:2: `creation_time` is `monday`, but must be a number, or a date such as 2003-05-01T12:30:00",
        ),
        (
            "pods.csv",
            PODS.to_owned(),
            "out.tsv",
            "out.tsv: tables are written as .csv or .parquet, and machines as .toml; .tsv and .json are only read",
        ),
        (
            "other.csv",
            "a,b\n1,2\n".to_owned(),
            "m.toml",
            "other.csv: this is no published trace: only a table of the nodes of a published trace becomes a machine",
        ),
    ] {
        let refused = converted(name, &text, to).unwrap_err();
        assert_eq!(refused.split(&format!("/{to}")).last(), Some(sentence));
    }
}

#[test]
fn the_history_of_a_site() {
    let mut text =
        "id,attempt,user,account,partition,state,submit,start,end,limit,nodes,nodelist,by\n"
            .to_owned();
    text += "17,1,ann,phys,run,COMPLETED,1800000000,1800000010,1800000070,300,4,n[1-4],main\n\
             18_2,1,bob,phys,run,COMPLETED,1800000005,1800000070,1800000075,,2,n[1-2],\n\
             19,1,bob,phys,run,PENDING,1800000006,,,60,2,,\n";
    let (jobs, done) = table("jobs.csv", &text);
    assert_eq!((done.lines, done.jobs, done.no_run_time), (3, 2, 1));
    let found = cells(&jobs, &["runtime", "wait", "nodes", "user"]);
    assert_eq!(found, ["60 10 4 ann", "5 65 2 bob"]);
    says(&done, "read as a Meshwork site, its history");
    let text =
        text.replace("by\n", "by,options\n").replace("main\n", "main,-N4 --gpus-per-node=2\n");
    let text = text.replace("n[1-2],\n", "n[1-2],,\n").replace(",2,,\n", ",2,,,\n");
    let (jobs, _) = table("jobs.csv", &text);
    let found = cells(&jobs, &["nodes", "pieces", "cpu", "gpu", "per_node"]);
    assert_eq!(found, [" 4 1 2 1", "2    "], "a job without options has nodes");
}

#[test]
fn sacct_with_trackable_resources() {
    let text = "JobIDRaw\tUser\tSubmit\tStart\tEnd\tTimelimitRaw\tAllocTRES\tReqTRES\n\
        7\tann\t100\t110\t160\t2\tbilling=16,cpu=16,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=2\tcpu=16,mem=64G,node=2\n\
        8\tbob\t120\t130\t140\t2\tcpu=9,gres/gpu=3,node=2\t\n\
        9\tbob\t121\t131\t141\t2\t\tcpu=4,mem=500M,node=1\n\
        10\tbob\t122\t132\t142\t2\t\t\n";
    let (jobs, done) = table("jobs.tsv", text);
    says(&done, "read as sacct of Slurm");
    assert_eq!((done.lines, done.jobs, done.no_processors), (4, 3, 1));
    let found = cells(&jobs, &["pieces", "cpu", "mem", "gpu", "per_node", "type", "estimate"]);
    assert_eq!(found, ["2 8 32768 2 1 a100 120", "3 3  1   120", "1 4 500  1  120"]);
}

#[test]
fn sacct_with_what_was_requested() {
    let begin = "JobIDRaw\tSubmit\tStart\tEnd";
    let requests = format!("{begin}\tReqTRES\n9\t121\t131\t141\tcpu=4,mem=500M,node=1\n");
    let (jobs, done) = table("jobs.tsv", &requests);
    says(&done, "read as sacct of Slurm");
    assert_eq!(cells(&jobs, &["pieces", "cpu", "mem", "per_node"]), ["1 4 500 1"]);
    let counts =
        format!("{begin}\tReqCPUS\tNNodes\tNTasks\n1\t0\t1\t2\t8\t2\t4\n2\t0\t1\t2\t12\t\t3\n");
    let (jobs, done) = table("jobs.tsv", &counts);
    says(&done, "read as sacct of Slurm");
    assert_eq!(cells(&jobs, &["pieces", "cpu"]), ["2 4", "3 4"]);
}

#[test]
fn options_of_salloc_are_pieces() {
    use super::slurm::SlurmPieces;
    for (options, expected) in [
        ("-n8 -c4", "8 4 - - - - -"),
        ("-n4 --gpus-per-task=h100:1 -c16 --mem-per-cpu=1000 -Ch100", "4 16 16000 1 - h100 -"),
        ("-N2 -n8 --gpus-per-node=4 --mem=100G", "2 4 102400 4 1 - -"),
        ("--nodes=2-4 --gres=gpu:a100:8 --exclusive", "2 1 - 8 1 a100 node"),
        ("-n6 --gpus=3 --mem-per-gpu=2G", "3 2 2048 1 - - -"),
        ("-N2 --gpus=4 --cpus-per-gpu=6", "2 12 - 2 1 - -"),
        ("-n12 --ntasks-per-node=4 -c2", "3 8 - - 1 - -"),
        ("-n4 --mem=4000", "4 1 1000 - - - -"),
        ("-N1 -n1 -c64 --constraint=a&b", "1 64 - - 1 - -"),
    ] {
        let own = SlurmPieces::of_options(options).unwrap();
        let cell = |name: &str| match own.cell(name) {
            None => "-".to_owned(),
            Some(Cell::Number(number) | Cell::Date(number)) => number.to_string(),
            Some(Cell::Text(text)) => text.into_owned(),
        };
        let columns = ["pieces", "cpu", "mem", "gpu", "per_node", "type", "exclusive"];
        assert_eq!(columns.map(cell).join(" "), expected, "{options}");
    }
    assert_eq!(SlurmPieces::of_options(" "), None);
}

#[test]
fn workloads_of_kueue() {
    let text = include_str!("../../../../../examples/kueue.json");
    let (jobs, done) = table("kueue.json", text);
    says(&done, "read as Kueue, its workloads");
    assert_eq!((done.lines, done.jobs, done.no_run_time), (7, 1, 6));
    let found = cells(&jobs, &["runtime", "wait", "pieces", "cpu", "gpu", "inside", "group"]);
    assert_eq!(found, ["2400 5 2 8 8 leaf ml"]);
    assert_eq!(cells(&jobs, &["priority"]), ["1"], "the highest priority of the file");
    let wrong = converted("kueue.json", "{\"items\": []}", "jobs.csv").unwrap_err();
    assert!(wrong.contains("there is no object of the kind Workload here"), "{wrong}");
}

#[test]
fn formats_are_told_apart() {
    for format in &FORMATS {
        assert!(format.columns().len() <= MOST, "{}", format.name);
        let has = |mark: &&str| format.columns().contains(mark) || format.marks.contains(mark);
        let meant = FORMATS.iter().find(|other| other.marks.iter().all(has)).unwrap();
        assert_eq!(meant.name, format.name);
    }
}
