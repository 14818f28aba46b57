#!/bin/bash
# A Slurm on this computer to try things out, as root, with Debian's packages slurmctld, slurmd, slurm-client and munge.
# `bash slurm.sh start 16` writes the folder slurm, and starts a controller and 16 nodes; `bash slurm.sh stop` ends them.
# All of it listens on this computer alone, at PORT and the ports above it.
set -e
dir=$PWD/slurm
export SLURM_CONF=$dir/slurm.conf
nodes=${2:-16}
port=${PORT:-27000}
host=$(hostname -s)

conf() {
    cat << END
ClusterName=try
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
SlurmctldPort=$port
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/%n.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
END
    for ((node = 1; node <= nodes; node++)); do
        echo "NodeName=n$node NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + node)) CPUs=2 RealMemory=4000"
    done
    for partition in "in State=DOWN Default=YES" "run State=UP"; do
        echo "PartitionName=$partition Nodes=n[1-$nodes] MaxTime=INFINITE OverSubscribe=EXCLUSIVE"
    done
}

case $1 in
    start)
        if [ -e "$dir" ]; then
            echo "$dir is there already" >&2
            exit 1
        fi
        mkdir -p "$dir/state" "$dir/spool" "$dir/log"
        conf > "$SLURM_CONF"
        if ! munge -n > /dev/null 2>&1; then
            install -d -o munge -g munge -m 755 /run/munge
            setpriv --reuid=munge --regid=munge --init-groups munged
        fi
        slurmctld
        for ((node = 1; node <= nodes; node++)); do
            slurmd -N "n$node"
        done
        for ((turn = 0; turn < 600; turn++)); do
            if [ "$(sinfo -h -p run -t idle -o %D)" = "$nodes" ]; then
                echo "a Slurm of $nodes nodes: export SLURM_CONF=$SLURM_CONF"
                exit 0
            fi
            sleep 0.1
        done
        echo "the nodes do not come up: see $dir/log" >&2
        exit 1
        ;;
    stop)
        scancel --user=root
        scontrol shutdown
        ;;
    *)
        echo "bash slurm.sh start NODES, or stop" >&2
        exit 2
        ;;
esac
