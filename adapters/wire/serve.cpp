#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <limits>
#include <type_traits>

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <draftproof/adapters/wire/batch_packer.hpp>
#include <draftproof/adapters/wire/result_reader.hpp>
#include <draftproof/adapters/wire/selection_message.hpp>

namespace draftproof::adapters {
namespace {

constexpr auto never = Process::Clock::time_point::max();
constexpr int most_int = std::numeric_limits<std::int32_t>::max();

AdapterError request_fault(std::string_view field, const std::string& found, const std::string& wanted) {
  return AdapterError(fmt::format("request: {}: got {}, expected {}", field, found, wanted));
}

std::string shown_field(const nlohmann::json* field) { return field ? field->dump() : "nothing"; }

/// Returns the next message, or nothing at the end of the input.
std::optional<Message> receive(Process& host, MessageReader& reader) {
  constexpr std::uint64_t most = most_array_bytes + (std::uint64_t{1} << 30);
  reader.expect({most, 0}, "request");
  if (host.exchange({}, &reader, never) == Process::Exchange::done) return reader.take();
  if (reader.beginning() != "nothing") throw AdapterError("request: got the end of the input inside a frame");
  return std::nullopt;
}

void send(Process& host, const Message& message) {
  if (host.exchange(EncodedMessage(message, Form::frames).parts(), nullptr, never) != Process::Exchange::done)
    throw AdapterError("reply: got a closed pipe, expected a host that reads it");
}

int number_field(const Message& message, const char* name) {
  const nlohmann::json* const found = message.field(name);
  if (!found || !found->is_number_integer() || *found < 0 || *found > most_int)
    throw request_fault(name, shown_field(found), "a whole number");
  return found->get<int>();
}

template <class T>
T named_field(const Message& message, const char* name, std::initializer_list<T> values) {
  const nlohmann::json* const found = message.field(name);
  for (const T value : values)
    if (found && *found == to_text(value)) return value;
  throw request_fault(name, shown_field(found), "a name of the protocol");
}

/// Returns the array `name`. Throws if it has another number of dimensions, or if its element type is not in
/// `types`.
const Tensor& array_field(const Message& message, const char* name, std::size_t dimensions,
                          std::initializer_list<DType> types) {
  const Tensor* found = message.find(name);
  const bool good = found && found->shape.size() == dimensions &&
                    std::all_of(found->shape.begin(), found->shape.end(), [](auto e) { return e <= most_int; });
  if (!good)
    throw request_fault(name, found ? "shape " + shape_text(found->shape) : "nothing",
                        fmt::format("an array of {} dimensions", dimensions));
  if (std::find(types.begin(), types.end(), found->dtype) == types.end())
    throw request_fault(name, array_text(found), "elements of the type of the protocol");
  return *found;
}

/// Returns the batch that `message` requests; its arrays refer to the message. Each extent (such as n or Q) is taken
/// from the first array that has this extent.
ServedBatch read_batch(const Message& message, WireFunction ask, const Declaration& declared) {
  constexpr int open = -1;
  ServedBatch batch{.rows = open,
                    .vocabulary = number_field(message, "vocabulary"),
                    .drafts_a_row = ask == WireFunction::draft ? number_field(message, "drafts") : open,
                    .target_rows = open,
                    .proposal_rows = open,
                    .places = open,
                    .state_size = ask == WireFunction::verify ? declared.state_size : 0,
                    .grammar = declared.grammar,
                    .settings_size = ask == WireFunction::verify && !declared.settings.empty() ? setting_count : 0};
  batch.kind = named_field(message, "kind", {RowKind::probabilities, RowKind::logits});
  batch.randomness =
      named_field(message, "randomness", {Randomness::scripted, Randomness::seeded, Randomness::opaque});
  for (const Dtype type : {Dtype::float64, Dtype::float16, Dtype::bfloat16})
    if (const Tensor* q = message.find("q"); q && q->dtype == array_type(type)) batch.dtype = type;
  const auto fit = [](const char* name, const Tensor& tensor, std::size_t dimension, int& extent) {
    const int found = static_cast<int>(tensor.shape[dimension]);
    if (extent == open) extent = found;
    if (extent != found)
      throw request_fault(name, "shape " + shape_text(tensor.shape),
                          fmt::format("{} in dimension {}", extent, dimension));
  };
  each_array(batch, ask, declared.level == Level::tree,
             [&](const char* name, auto& values, std::initializer_list<int*> extents, bool due) {
               using T = std::remove_const_t<typename std::remove_reference_t<decltype(values)>::value_type>;
               if (!due || (batch.drafts_a_row == 0 && &values == static_cast<const void*>(&batch.parents))) return;
               std::size_t at = 0;
               if constexpr (std::is_same_v<T, std::byte>) {
                 const Tensor& tensor = array_field(message, name, 1 + extents.size(), {array_type(batch.dtype)});
                 values = tensor.bytes;
                 fit(name, tensor, at, batch.rows);
                 for (int* const extent : extents) fit(name, tensor, ++at, *extent);
               } else {
                 const Tensor& tensor = array_field(message, name, 1 + extents.size(), {dtype_of<T>});
                 values = tensor.as<T>();
                 fit(name, tensor, at, batch.rows);
                 for (int* const extent : extents) fit(name, tensor, ++at, *extent);
               }
             });
  for (int* const extent : {&batch.target_rows, &batch.places}) *extent = std::max(*extent, 0);
  check_shapes(batch, ask, declared.level, "request");
  return batch;
}

/// The draws of all rows as arrays.
struct DrawArrays {
  std::vector<std::int32_t> counts, draws;
  std::vector<double> weights;
  std::vector<std::string> streams;

  explicit DrawArrays(const std::vector<std::vector<Draw>>& rows) {
    for (const std::vector<Draw>& row : rows) {
      counts.push_back(static_cast<std::int32_t>(row.size()));
      for (const Draw& draw : row) {
        auto at = std::find(streams.begin(), streams.end(), draw.stream);
        if (!draw.stream.empty() && at == streams.end()) at = streams.insert(at, draw.stream);
        const int stream = draw.stream.empty() ? -1 : static_cast<int>(at - streams.begin());
        for (const int part : {static_cast<int>(draw.kind), draw.size, draw.bits, stream}) draws.push_back(part);
        weights.insert(weights.end(), draw.weights.begin(), draw.weights.end());
      }
    }
  }
};

/// Answers requests one after another; the memory of a reply's arrays is kept until the next request.
class Server {
 public:
  explicit Server(Served& served) : served_(served) {}

  Message answer(const Message& request) {
    const nlohmann::json* const type = request.field("type");
    if (type && *type == "verify") return batch(request, WireFunction::verify);
    if (type && *type == "draft") return batch(request, WireFunction::draft);
    if (type && *type == "generate") return text(request);
    if (type && *type == "select")
      return {.fields = {{"type", "result"}, {"kept", served_.select(read_selection(request.fields))}}};
    throw request_fault("type", shown_field(type), "verify, draft, generate, select or bye");
  }

 private:
  Message batch(const Message& request, WireFunction ask) {
    const ServedBatch batch = read_batch(request, ask, served_.declaration());
    size_result(batch, ask, result_);
    if (ask == WireFunction::verify)
      served_.verify(batch, result_);
    else
      served_.draft(batch, result_);
    Message reply{.fields = {{"type", "result"}}};
    const auto add = [&reply](const char* name, std::vector<std::uint64_t> shape, const auto& values) {
      reply.tensors.push_back(tensor_of(name, std::move(shape), std::span(values)));
    };
    const auto extent = [](int size) { return static_cast<std::uint64_t>(size); };
    add("tokens", {extent(batch.rows), extent(result_.tokens_a_row)}, result_.tokens);
    add("counts", {extent(batch.rows)}, result_.counts);
    add("status", {extent(batch.rows)}, result_.status);
    if (result_.state_size > 0) add("state", {extent(batch.rows), extent(result_.state_size)}, result_.state);
    for (const auto& [row, words] : result_.messages) reply.fields["messages"][std::to_string(row)] = words;
    if (batch.randomness != Randomness::scripted) return reply;
    draws_.emplace(result_.draws);
    reply.fields["streams"] = draws_->streams;
    add("draw_counts", {draws_->counts.size()}, draws_->counts);
    add("draws", {draws_->draws.size() / 4, 4}, draws_->draws);
    add("weights", {draws_->weights.size()}, draws_->weights);
    return reply;
  }

  Message text(const Message& request) {
    const int memory = served_.declaration().memory;
    const auto table = [&](const char* name) -> const Tensor& {
      return array_field(request, name, static_cast<std::size_t>(memory) + 1, {DType::F64});
    };
    const Tensor &target = table("target"), &proposal = table("proposal");
    const nlohmann::json* const seed = request.field("seed");
    if (!seed || !seed->is_number_integer()) throw request_fault("seed", "no number", "a whole number");
    const bool square = std::all_of(target.shape.begin(), target.shape.end(),
                                    [&target](std::uint64_t extent) { return extent == target.shape[0]; });
    if (!square || proposal.shape != target.shape)
      throw request_fault("target", shape_text(target.shape), "[V, .., V], as proposal");
    text_ = served_.generate({.vocabulary = static_cast<int>(target.shape[0]),
                              .memory = memory,
                              .length = number_field(request, "length"),
                              .drafts = number_field(request, "drafts"),
                              .seed = seed->get<std::int64_t>(),
                              .target = target.as<double>(),
                              .proposal = proposal.as<double>()});
    return {.fields = {{"type", "result"}},
            .tensors = {tensor_of("tokens", {1, text_.size()}, std::span<const std::int32_t>(text_))}};
  }

  Served& served_;
  ServedResult result_;
  std::optional<DrawArrays> draws_;
  std::vector<std::int32_t> text_;
};

/// Keeps freed memory for the next request: many verifiers allocate and free a copy of each row, and memory returned
/// to the system in between costs a page fault for each page.
void keep_freed_memory() {
  constexpr int kept = 256 << 20, least_mapped = 32 << 20;  // malloc accepts mmap thresholds up to 32 MiB
  mallopt(M_TRIM_THRESHOLD, kept);
  mallopt(M_MMAP_THRESHOLD, least_mapped);
}

}  // namespace

void serve(Served& served, int input, int output) {
  const int in = fcntl(input, F_DUPFD_CLOEXEC, 3), out = fcntl(output, F_DUPFD_CLOEXEC, 3);
  if (in < 0 || out < 0) throw AdapterError(fmt::format("serving: {}", std::strerror(errno)));
  if (output == STDOUT_FILENO) dup2(STDERR_FILENO, STDOUT_FILENO);
  std::cout.flush();  // output that is still buffered goes to standard error too
  std::fflush(stdout);
  std::signal(SIGPIPE, SIG_IGN);
  keep_freed_memory();
  Process host(in, out);
  MessageReader reader;
  Server server(served);
  nlohmann::json hello = to_json(served.declaration());
  if (served.declaration().stateful()) hello["version"] = {1, 2};
  if (served.declaration().has("select")) hello["version"] = {1, 4};
  if (served.declaration().grammar) hello["version"] = {1, 5};
  if (!served.declaration().settings.empty()) hello["version"] = {1, 6};
  send(host, {.fields = std::move(hello)});
  while (const auto request = receive(host, reader)) {
    if (const nlohmann::json* type = request->field("type"); type && *type == "bye") break;
    Message reply;
    try {
      reply = server.answer(*request);
    } catch (const std::exception& error) {
      reply = {.fields = {{"type", "error"}, {"message", error.what()}}};
    }
    reply.fields["id"] = request->fields.value("id", nlohmann::json());
    send(host, reply);
  }
}

}  // namespace draftproof::adapters
