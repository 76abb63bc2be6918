#include <draftproof/captures/trace.hpp>

#include <cmath>
#include <functional>
#include <limits>

#include <draftproof/tests/support/hostile.hpp>
#include <draftproof/tests/support/recordings.hpp>

namespace draftproof {
namespace {

using namespace hostile;
using recordings::Form, recordings::Recording, recordings::TraceFile;

const Form small{.vocabulary = 5, .records = 12, .length = 2};

TraceFile good_file() {
  Recording recording(small, 3);
  recording.run({});
  return recording.file();
}

/// Expects that the good file is refused after `spoil` has changed it, with a message that contains all of `parts`.
void expect_refused(const std::function<void(TraceFile&)>& spoil, const std::vector<std::string>& parts) {
  TraceFile file = good_file();
  spoil(file);
  expect_input_error([&] { Trace::of_bytes(file.bytes(), "bad.safetensors"); }, parts);
}

TEST(TraceFile, ReadsItsRows) {
  const Trace trace = Trace::of_bytes(good_file().bytes(), "good");
  ASSERT_GE(trace.records(), 12u);
  EXPECT_EQ(trace.symbols(), 5u);
  EXPECT_FALSE(trace.truncated());
  EXPECT_EQ(trace.draft_sampling(), "iid");
  std::vector<float> distribution(5);
  for (std::size_t r = 0; r < trace.records(); ++r) {
    trace.distribution(RowsOf::target, r, distribution);
    double sum = 0;
    for (const float p : distribution) sum += p;
    EXPECT_NEAR(sum, 1, 1e-6);
    EXPECT_EQ(trace.symbol(RowsOf::target, r, trace.emitted(r)), static_cast<std::size_t>(trace.emitted(r)));
  }
}

TEST(TraceFile, ReadsTheRecordersFiles) {
  const auto open = [](const char* name) {
    return Trace::open(std::filesystem::path(DRAFTPROOF_SOURCE_DIR) / "tests/golden/traces" / name);
  };
  const Trace whole = open("whole.safetensors"), half = open("half.safetensors"), top = open("top.safetensors");
  EXPECT_EQ(whole.vocabulary(), 12u);
  EXPECT_EQ(whole.blocks(), 60u);
  EXPECT_EQ(whole.request(5), 1);
  EXPECT_EQ(top.symbols(), 5u);
  EXPECT_EQ(half.dtype(), DType::F16);
  ASSERT_EQ(whole.records(), top.records());
  std::vector<float> distribution(12), rounded(12), leading(5);
  for (std::size_t r = 0; r < whole.records(); ++r) {
    whole.distribution(RowsOf::target, r, distribution);
    half.distribution(RowsOf::target, r, rounded);
    top.distribution(RowsOf::target, r, leading);
    // float16 changes a logarithm by at most 2^-11 of its size. Sizes are below 16 here, so logarithms and the sum of a
    // row change by at most 2^-7.
    for (std::size_t x = 0; x < distribution.size(); ++x)
      EXPECT_NEAR(rounded[x], distribution[x], 2 * 16 * 0x1p-11 * distribution[x]) << r;
    const std::size_t symbol = top.symbol(RowsOf::target, r, whole.emitted(r));
    if (symbol < 4) {
      EXPECT_NEAR(leading[symbol], distribution[static_cast<std::size_t>(whole.emitted(r))], 1e-6);
    }
    EXPECT_TRUE(whole.is_zero(RowsOf::target, r, 11));
    EXPECT_FALSE(whole.is_zero(RowsOf::target, r, 3));
  }
}

TEST(TraceFile, RefusesArraysThatContradictEachOther) {
  const auto put32 = [](const char* name, std::vector<std::int32_t> values) {
    return [=](TraceFile& file) { file.put(name, DType::I32, {values.size()}, values); };
  };
  const auto put64 = [](const char* name, std::vector<std::int64_t> values) {
    return [=](TraceFile& file) { file.put(name, DType::I64, {values.size()}, values); };
  };
  expect_refused([](TraceFile& f) { f.remove("emitted"); }, {"bad.safetensors", "emitted", "no such array"});
  expect_refused([](TraceFile& f) { f.metadata["schema"] = "draftproof.capture/1"; }, {"draftproof.trace/1"});
  expect_refused([](TraceFile& f) { f.metadata["values"] = "probability"; }, {"values", "log_probability"});
  expect_refused([](TraceFile& f) { f.metadata["vocabulary"] = "6"; }, {"p_rows", "5 columns", "expected 6"});
  expect_refused([](TraceFile& f) { f.metadata["vocabulary"] = "-5"; }, {"vocabulary", "a number of tokens"});
  expect_refused(put64("emitted", {1, 2}), {"emitted", "I64", "expected I32"});
  expect_refused(put32("emitted", {1, 2}), {"p_rows", "expected 2"});
  expect_refused(put64("request", {0}), {"request", "1 entries"});
  expect_refused(put64("block_start", {0, 1}), {"block_start", "2 entries"});
  expect_refused(
      [](TraceFile& f) {
        f.put("drafts", DType::I32, {1, 1}, std::vector<std::int32_t>{0});
      },
      {"drafts", "shape [1, 1]", "1 dimensions"});
}

TEST(TraceFile, NamesThePlaceOfAWrongIndex) {
  const Trace good = Trace::of_bytes(good_file().bytes(), "good");
  const auto changed = [&good](const char* name, std::size_t at, std::int32_t value) {
    return [=, &good](TraceFile& file) {
      std::vector<std::int32_t> values;
      const bool emitted = std::string(name) == "emitted", parent = std::string(name) == "draft_parent";
      for (std::size_t i = 0; i < (emitted ? good.records() : good.drafts()); ++i)
        values.push_back(emitted ? good.emitted(i) : parent ? good.draft_parent(i) : good.draft(i));
      values[at] = value;
      file.put(name, DType::I32, {values.size()}, values);
    };
  };
  expect_refused(changed("emitted", 7, 5), {"emitted, row 7: got 5, expected a number from 0 to 4"});
  expect_refused(changed("drafts", 3, -1), {"drafts, row 3: got -1"});
  expect_refused(changed("draft_parent", 2, 0), {"draft_parent, row 2: got 0, expected a number from -1 to -1"});
  const auto rows = [&good](std::size_t at, std::int64_t value) {
    return [=, &good](TraceFile& file) {
      std::vector<std::int64_t> values;
      for (std::size_t r = 0; r < good.records(); ++r) values.push_back(good.emitted_q(r));
      values[at] = value;
      file.put("emitted_q", DType::I64, {values.size()}, values);
    };
  };
  expect_refused(rows(0, 9), {"emitted_q, row 0: got 9"});
  expect_refused(rows(1, 0), {"emitted_q, row 1: got"});
}

TEST(TraceFile, NamesThePlaceOfAWrongRow) {
  const auto distribution_of = [](float value) {
    TraceFile file = good_file();
    const std::size_t records = Trace::of_bytes(file.bytes(), "good").records();
    std::vector<float> rows(records * 5, std::log(0.2f));
    rows[3 * 5 + 2] = value;
    file.put("p_rows", DType::F32, {records, 5}, rows);
    const Trace trace = Trace::of_bytes(file.bytes(), "bad");
    std::vector<float> distribution(5);
    trace.distribution(RowsOf::target, 3, distribution);
  };
  expect_input_error([&] { distribution_of(std::numeric_limits<float>::quiet_NaN()); },
                     {"bad: p_rows, row 3, token 2: got NaN"});
  expect_input_error([&] { distribution_of(std::numeric_limits<float>::infinity()); },
                     {"p_rows, row 3, token 2: got inf"});
  expect_input_error([&] { distribution_of(-1); },
                     {"p_rows, row 3: got log-probabilities whose exponentials sum to"});
}

TEST(TraceFile, RefusesWrongIdsOfTruncatedRows) {
  Form form = small;
  form.top = 2;
  Recording recording(form, 3);
  recording.run({});
  TraceFile file = recording.file();
  const Trace good = Trace::of_bytes(file.bytes(), "good");
  std::vector<std::int32_t> ids;
  for (std::size_t r = 0; r < good.records(); ++r) ids.insert(ids.end(), {1, 3});
  ids[9] = 1;
  file.put("p_top_ids", DType::I32, {good.records(), 2}, ids);
  expect_input_error([&] { Trace::of_bytes(file.bytes(), "bad"); }, {"p_top_ids, row 4, token 1: got 1"});
}

TEST(TraceFile, RefusesBytesThatAreNoFile) {
  const auto bytes = good_file().bytes();
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{100}, bytes.size() - 1})
    EXPECT_THROW(Trace::of_bytes({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}, "cut"),
                 InputError);
  EXPECT_THROW(Trace::open("no/such/trace.safetensors"), InputError);
}

}  // namespace
}  // namespace draftproof
