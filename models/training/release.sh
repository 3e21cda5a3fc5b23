#!/bin/sh
# From trained weights to a model folder that may be shipped: int8, temperatures, package, graphs for devices, gates.
#   UMPIRE_DATA=DIR ./release.sh runs/final.pt ../kev       (HELDOUT_ROWS and ROWS, of every task: 250 and 60)
# The folder is replaced as a whole, after every gate has passed; its card (README.md) is written by hand.
set -eu
weights=$1 folder=$2
cd "$(dirname "$0")"
new=runs/release
rm -rf "$new"
mkdir -p "$new/kev"
cp "$folder/README.md" "$new/kev"
python=${PYTHON:-python}
run() {
  echo "== $*" >&2
  "$python" -m "umpire_training.$@"
}

run export --checkpoint "$weights" --out "$new/kev"
run kev_package --checkpoint "$weights" --out "$new/kev"
# the same rows by the graphs and by the weights in float32, side by side
run onnx_answers --folder "$new/kev" --rows "${ROWS:-60}" --heldout-rows "${HELDOUT_ROWS:-250}" --out "$new/answers.int8.json" &
run calibrate --model "$weights" --rows 1 --heldout-rows "${HELDOUT_ROWS:-250}" --save "$new/answers.fp32.json" --out "$new/unused.json"
wait $!
run calibrate --logits "$new/answers.int8.json" --out "$new/temperatures.json"
run kev_package --checkpoint "$weights" --temperatures "$new/temperatures.json" --out "$new/kev"
run device_graphs --folder "$new/kev"
run gate --saved "$new/answers.fp32.json" "$new/answers.int8.json" --folder "$new/kev"
(cd ../.. && npx node test/models/prompt-fixtures.ts --all models/training/runs/prompts.jsonl)
run parity --checkpoint "$weights"
run evaluate --logits "$new/answers.int8.json" --temperatures "$new/temperatures.json"

# under version control they lie packed, a seventh smaller; the plain ones beside them are what is mapped
gzip -9 -n -k "$new"/kev/*.int8.onnx "$new"/kev/*.bin
rm -rf "$folder"
mv "$new/kev" "$folder"
