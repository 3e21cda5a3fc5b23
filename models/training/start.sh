#!/bin/sh
# Starts the long run or goes on with it: WORKERS processes (2) of one thread each, at low priority, in the background.
#   ./start.sh --pack runs/kev.pack --out runs/kev --tokens 120e6        (all arguments are train.py's)
#   kill $(cat runs/train.pid)                                           (saves, then ends)
set -e
cd "$(dirname "$0")"
mkdir -p runs
if [ -f runs/train.pid ] && kill -0 $(cat runs/train.pid) 2>/dev/null; then
  echo "A run is under way: processes $(cat runs/train.pid). kill them to stop it; its log is log.jsonl in its folder." >&2
  exit 1
fi
# Memory of large tensors stays with the process, in large pages: else every one is mapped and zeroed anew (TRIALS.md).
export GLIBC_TUNABLES=glibc.malloc.hugetlb=1 MALLOC_MMAP_THRESHOLD_=1000000000 MALLOC_TRIM_THRESHOLD_=4000000000 MALLOC_TOP_PAD_=67108864
export WORLD_SIZE="${WORKERS:-2}" MASTER_ADDR=127.0.0.1 MASTER_PORT="${MASTER_PORT:-29517}" GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1
pids=
rank=0
while [ "$rank" -lt "$WORLD_SIZE" ]; do
  RANK=$rank nohup nice -n 19 "${PYTHON:-python}" -m umpire_training.train --threads 1 "$@" >> "runs/train.$rank.out" 2>&1 &
  pids="$pids $!"
  rank=$((rank + 1))
done
echo $pids > runs/train.pid
