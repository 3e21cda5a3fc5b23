// Attention over packed tokens for training on CPUs: forward and backward, float32, heads of 32 numbers.
//
// Nothing is padded, gathered or kept but one number a query and head (the logarithm of its softmax's sum); the backward
// computes the shares again. PyTorch's batched products reach 40 % of the processor's speed with heads this small, and
// half of the time went into copies around them.
//
// A task is a run of tokens that read themselves (a window) or themselves and some state (a row of branches). A token
// sees all of the state, and of its own run what has branch 0 or its own branch.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

constexpr int HEAD = 32;    // numbers of a head
constexpr int LANES = 8;    // floats of a vector register
constexpr int COLUMNS = 16; // keys of a tile of scores: two registers
constexpr int BLOCK = 36;   // queries whose scores lie in the caches together
constexpr float UNSEEN = -1e30f;
constexpr float LEAST = -87; // exp of less leaves the normal numbers, which takes ten times as long; 1e-38 is nothing

typedef float Vector __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t Integers __attribute__((vector_size(4 * LANES), aligned(4)));

inline Vector load(const float* from) { return *reinterpret_cast<const Vector*>(from); }
inline void store(float* to, Vector value) { *reinterpret_cast<Vector*>(to) = value; }

// out[R][columns] = left[R][HEAD] · right[HEAD][columns]
template <int R>
void outer(const float* left, const float* right, int columns, float* out) {
  for (int j = 0; j < columns; j += COLUMNS) {
    Vector sum[R][2] = {};
    for (int d = 0; d < HEAD; d++) {
      const Vector a = load(right + d * columns + j), b = load(right + d * columns + j + LANES);
      for (int r = 0; r < R; r++) {
        sum[r][0] += left[r * HEAD + d] * a;
        sum[r][1] += left[r * HEAD + d] * b;
      }
    }
    for (int r = 0; r < R; r++) {
      store(out + r * columns + j, sum[r][0]);
      store(out + r * columns + j + LANES, sum[r][1]);
    }
  }
}

void scores(const float* left, const float* right, int rows, int columns, float* out) {
  int i = 0;
  for (; i + 6 <= rows; i += 6) outer<6>(left + i * HEAD, right, columns, out + i * columns);
  for (; i + 2 <= rows; i += 2) outer<2>(left + i * HEAD, right, columns, out + i * columns);
  for (; i < rows; i++) outer<1>(left + i * HEAD, right, columns, out + i * columns);
}

// out[R][HEAD] (+)= sum over k of left[r · by_row + k · by_term] · right[k][HEAD]
template <int R, bool ADD>
void inner(const float* left, int by_row, int by_term, const float* right, int terms, float* out) {
  Vector sum[R][4];
  for (int r = 0; r < R; r++)
    for (int c = 0; c < 4; c++) sum[r][c] = ADD ? load(out + r * HEAD + c * LANES) : Vector{};
  for (int k = 0; k < terms; k++) {
    for (int c = 0; c < 4; c++) {
      const Vector b = load(right + k * HEAD + c * LANES);
      for (int r = 0; r < R; r++) sum[r][c] += left[r * by_row + k * by_term] * b;
    }
  }
  for (int r = 0; r < R; r++)
    for (int c = 0; c < 4; c++) store(out + r * HEAD + c * LANES, sum[r][c]);
}

template <bool ADD>
void weighted(const float* left, int by_row, int by_term, const float* right, int rows, int terms, float* out) {
  int i = 0;
  for (; i + 3 <= rows; i += 3) inner<3, ADD>(left + i * by_row, by_row, by_term, right, terms, out + i * HEAD);
  for (; i < rows; i++) inner<1, ADD>(left + i * by_row, by_row, by_term, right, terms, out + i * HEAD);
}

} // namespace

extern "C" {

// Rows of `own` are [query | key | value] of the tasks' tokens, those of `state` [key | value], each part heads · HEAD wide;
// strides are in floats.
struct Tasks {
  int64_t count, heads;
  const int64_t* starts;       // [count + 1] first token of each task in `own`
  const int64_t* first_span;   // [count + 1]
  const int64_t* span_starts;  // first row in `state`
  const int64_t* span_lengths;
  const int32_t* branches;     // of each token
  const float* scales;         // [count] of the scores
  const float* own;
  int64_t own_stride;
  const float* state;
  int64_t state_stride;
};
}

namespace {

// One head of one task: its keys and values in one row, and memory for its scores.
struct Work {
  int queries, keys, read, columns;
  bool branched; // some tokens don't see others
  std::vector<float> query, key, value, turned_key, turned_value, score, by_score, by_key, by_value, grad, by_query;

  void resize(int own, int state) {
    queries = own, read = state, keys = own + state;
    columns = (keys + COLUMNS - 1) / COLUMNS * COLUMNS;
    const size_t wide = size_t(columns) * HEAD;
    for (auto* part : {&key, &value, &turned_key, &turned_value, &by_key, &by_value})
      if (part->size() < wide) part->resize(wide);
    for (auto* part : {&query, &grad, &by_query})
      if (part->size() < size_t(own) * HEAD) part->resize(size_t(own) * HEAD);
    for (auto* part : {&score, &by_score})
      if (part->size() < size_t(BLOCK) * columns) part->resize(size_t(BLOCK) * columns);
  }

  void turn(const std::vector<float>& from, std::vector<float>& to) {
    for (int j = 0; j < columns; j += LANES)
      for (int d = 0; d < HEAD; d++)
        for (int l = 0; l < LANES; l++) to[d * columns + j + l] = from[(j + l) * HEAD + d];
  }
};

// For every row of keys and values of a task: what it reads of the state first, then its own. visit(place in the work, row, own or state)
template <class Visit>
void each_key(const Tasks& tasks, int64_t task, Visit visit) {
  int place = 0;
  for (int64_t span = tasks.first_span[task]; span < tasks.first_span[task + 1]; span++)
    for (int64_t i = 0; i < tasks.span_lengths[span]; i++) visit(place++, tasks.span_starts[span] + i, false);
  for (int64_t token = tasks.starts[task]; token < tasks.starts[task + 1]; token++) visit(place++, token, true);
}

int state_keys(const Tasks& tasks, int64_t task) {
  int64_t sum = 0;
  for (int64_t span = tasks.first_span[task]; span < tasks.first_span[task + 1]; span++) sum += tasks.span_lengths[span];
  return int(sum);
}

void gather(const Tasks& tasks, int64_t task, int64_t head, Work& work) {
  const int64_t hidden = tasks.heads * HEAD, at = head * HEAD;
  each_key(tasks, task, [&](int place, int64_t row, bool own) {
    const float* key = own ? tasks.own + row * tasks.own_stride + hidden : tasks.state + row * tasks.state_stride;
    std::copy_n(key + at, HEAD, &work.key[place * HEAD]);
    std::copy_n(key + hidden + at, HEAD, &work.value[place * HEAD]);
  });
  std::fill(work.key.begin() + work.keys * HEAD, work.key.begin() + work.columns * HEAD, 0.0f);
  std::fill(work.value.begin() + work.keys * HEAD, work.value.begin() + work.columns * HEAD, 0.0f);
  work.turn(work.key, work.turned_key);
  const int32_t* branches = tasks.branches + tasks.starts[task];
  work.branched = std::any_of(branches, branches + work.queries, [](int32_t branch) { return branch != 0; });
  const float scale = tasks.scales[task];
  for (int i = 0; i < work.queries; i++) {
    const float* from = tasks.own + (tasks.starts[task] + i) * tasks.own_stride + at;
    for (int d = 0; d < HEAD; d++) work.query[i * HEAD + d] = from[d] * scale;
  }
}

// Scores of `rows` queries from `first` on, what they may not see far below the rest
void masked_scores(const Tasks& tasks, int64_t task, Work& work, int first, int rows) {
  scores(&work.query[first * HEAD], work.turned_key.data(), rows, work.columns, work.score.data());
  const int32_t* branches = tasks.branches + tasks.starts[task];
  for (int i = 0; i < rows; i++) {
    float* row = &work.score[i * work.columns];
    const int32_t mine = branches[first + i];
    float* own = row + work.read;
    if (work.branched) {
      int j = 0;
      for (; j + LANES <= work.queries; j += LANES) {
        const Integers branch = *reinterpret_cast<const Integers*>(branches + j);
        store(own + j, (branch == 0) | (branch == mine) ? load(own + j) : Vector{} + UNSEEN);
      }
      for (; j < work.queries; j++)
        if (branches[j] != 0 && branches[j] != mine) own[j] = UNSEEN;
    }
    for (int j = work.keys; j < work.columns; j++) row[j] = UNSEEN;
  }
}

float softmax(float* row, int columns) {
  float most = row[0], sum = 0;
#pragma omp simd reduction(max : most)
  for (int j = 0; j < columns; j++) most = std::max(most, row[j]);
#pragma omp simd reduction(+ : sum)
  for (int j = 0; j < columns; j++) {
    row[j] = expf(std::max(row[j] - most, LEAST));
    sum += row[j];
  }
  const float share = 1 / sum;
#pragma omp simd
  for (int j = 0; j < columns; j++) row[j] *= share;
  return most + logf(sum);
}

} // namespace

extern "C" {

// out [tokens, heads · HEAD], logs [tokens, heads]
void attend(const Tasks* given, float* out, float* logs) {
  const Tasks& tasks = *given;
  const int64_t hidden = tasks.heads * HEAD;
  Work work;
  std::vector<float> found(BLOCK * HEAD);
  for (int64_t task = 0; task < tasks.count; task++) {
    work.resize(int(tasks.starts[task + 1] - tasks.starts[task]), state_keys(tasks, task));
    for (int64_t head = 0; head < tasks.heads; head++) {
      gather(tasks, task, head, work);
      for (int first = 0; first < work.queries; first += BLOCK) {
        const int rows = std::min(BLOCK, work.queries - first);
        masked_scores(tasks, task, work, first, rows);
        for (int i = 0; i < rows; i++)
          logs[(tasks.starts[task] + first + i) * tasks.heads + head] = softmax(&work.score[i * work.columns], work.columns);
        weighted<false>(work.score.data(), work.columns, 1, work.value.data(), rows, work.keys, found.data());
        for (int i = 0; i < rows; i++)
          std::copy_n(&found[i * HEAD], HEAD, out + (tasks.starts[task] + first + i) * hidden + head * HEAD);
      }
    }
  }
}

// grad [tokens, heads · HEAD] of the output; logs as `attend` left them. by_own [tokens, 3 · heads · HEAD] is written,
// by_state [state rows, 2 · heads · HEAD] added to; the latter's rows may lie apart.
void attend_backward(const Tasks* given, const float* grad, const float* logs, float* by_own, float* by_state, int64_t by_state_stride) {
  const Tasks& tasks = *given;
  const int64_t hidden = tasks.heads * HEAD;
  Work work;
  for (int64_t task = 0; task < tasks.count; task++) {
    const int64_t start = tasks.starts[task];
    work.resize(int(tasks.starts[task + 1] - start), state_keys(tasks, task));
    for (int64_t head = 0; head < tasks.heads; head++) {
      const int64_t at = head * HEAD;
      gather(tasks, task, head, work);
      work.turn(work.value, work.turned_value);
      std::fill_n(work.by_key.begin(), work.columns * HEAD, 0.0f);
      std::fill_n(work.by_value.begin(), work.columns * HEAD, 0.0f);
      for (int i = 0; i < work.queries; i++) std::copy_n(grad + (start + i) * hidden + at, HEAD, &work.grad[i * HEAD]);
      for (int first = 0; first < work.queries; first += BLOCK) {
        const int rows = std::min(BLOCK, work.queries - first);
        const float* by_out = &work.grad[first * HEAD];
        masked_scores(tasks, task, work, first, rows);
        scores(by_out, work.turned_value.data(), rows, work.columns, work.by_score.data());
        for (int i = 0; i < rows; i++) {
          float *share = &work.score[i * work.columns], *by_share = &work.by_score[i * work.columns];
          const float log = logs[(start + first + i) * tasks.heads + head];
          float mean = 0;
#pragma omp simd reduction(+ : mean)
          for (int j = 0; j < work.columns; j++) {
            share[j] = expf(std::max(share[j] - log, LEAST));
            mean += share[j] * by_share[j];
          }
#pragma omp simd
          for (int j = 0; j < work.columns; j++) by_share[j] = share[j] * (by_share[j] - mean);
        }
        weighted<false>(work.by_score.data(), work.columns, 1, work.key.data(), rows, work.keys, &work.by_query[first * HEAD]);
        weighted<true>(work.by_score.data(), 1, work.columns, &work.query[first * HEAD], work.keys, rows, work.by_key.data());
        weighted<true>(work.score.data(), 1, work.columns, by_out, work.keys, rows, work.by_value.data());
      }
      const float scale = tasks.scales[task];
      for (int i = 0; i < work.queries; i++)
        for (int d = 0; d < HEAD; d++) by_own[(start + i) * 3 * hidden + at + d] = work.by_query[i * HEAD + d] * scale;
      each_key(tasks, task, [&](int place, int64_t row, bool own) {
        float* key = own ? by_own + row * 3 * hidden + hidden : by_state + row * by_state_stride;
        for (int d = 0; d < HEAD; d++) {
          key[at + d] = (own ? 0 : key[at + d]) + work.by_key[place * HEAD + d];
          key[hidden + at + d] = (own ? 0 : key[hidden + at + d]) + work.by_value[place * HEAD + d];
        }
      });
    }
  }
}
}
