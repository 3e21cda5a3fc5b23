#!/bin/sh
# Two processes of one thread each, at low priority: ./start.sh --config configs/kev.json --out runs/kev --tokens 9e6 [--finish-by TIME] [--resume]
cd "$(dirname "$0")" && mkdir -p runs
export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT="${MASTER_PORT:-29517}" GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1
for rank in 0 1; do
  RANK=$rank nohup nice -n 19 "${PYTHON:-python}" -m umpire_training.train --threads 1 "$@" \
    >> "runs/train.$rank.out" 2>&1 &
  pids="$pids $!"
done
echo $pids > runs/train.pid
