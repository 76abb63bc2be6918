// Models with a state in place of libllama, for the slots of llama.cpp's server, tools/server/server-context.cpp, whose
// chat templates and media are left out.
//
// The files of tools/server, of common/ and src/llama-sampler.cpp are compiled unchanged and linked with this file; its
// functions come first in the link, so they replace library functions of the same name. A model is a table of S rows:
// row s is the distribution of the next token in state s, and `next` has the state after each token. The memory of a
// context holds the state after each position of a sequence, like a cache of keys and values, or with `recurrent` only
// the last state, so that the server must go back to checkpoints. A batch whose positions do not continue the memory
// is rejected, as libllama does.
//
// usage: PROGRAM < INPUT > OUTPUT;  INPUT is a JSON object with `target`, `proposal` [S, V], `next` [S, V], `ends` (end
// tokens), `slots`, `drafts` (0: no draft model), `recurrent`, and `requests`: a list of bodies of the server's route
// /completion, whose `prompt` is a list of tokens. OUTPUT is a JSON list with the tokens of each request.
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <map>
#include <thread>

#include "chat.h"
#include "common.h"
#include "llama.h"
#include "log.h"
#include "mtmd-helper.h"
#include "server-context.h"
#include "server-schema.h"

namespace {

using Table = std::vector<std::vector<float>>;
std::vector<std::vector<int>> successors;
std::vector<int> ends;
bool recurrent = false;
int slots = 1;
constexpr int batch_tokens = 32;  // fewer than the longest prompt has, so that prompts are read in parts

struct Place {
  int position, state;
};

}  // namespace

struct llama_vocab {
  int size = 0;
};
struct llama_model {
  Table logits;
  llama_vocab vocab;
};
struct llama_memory_i {
  std::map<int, std::vector<Place>> sequences;
  int last(int sequence) { return sequences[sequence].empty() ? -1 : sequences[sequence].back().position; }
};
struct llama_context {
  llama_model* model;
  llama_memory_i memory;
  std::vector<int> rows;  // state of each output of the last batch, -1 for a token without output
};
struct llama_batch_ext {
  struct Entry {
    int token, sequence, position;
    bool output;
  };
  std::vector<Entry> entries;
};

namespace {
llama_model models[2];
bool is_end(int token) { return std::find(ends.begin(), ends.end(), token) != ends.end(); }
/// Returns the text of a token: one letter, so that a stop string is a sequence of tokens.
std::string piece(int token) { return is_end(token) ? "" : std::string(1, static_cast<char>('A' + token)); }
}  // namespace

extern "C" {
llama_batch_ext* llama_batch_ext_init(llama_context*) { return new llama_batch_ext; }
void llama_batch_ext_free(llama_batch_ext* batch) { delete batch; }
void llama_batch_ext_clear(llama_batch_ext* batch) { batch->entries.clear(); }
int32_t llama_batch_ext_add_token(llama_batch_ext* batch, llama_seq_id sequence, llama_token token) {
  batch->entries.push_back({token, sequence, -1, false});
  return static_cast<int32_t>(batch->entries.size()) - 1;
}
bool llama_batch_ext_set_output_logits(llama_batch_ext* batch, int32_t i, bool value) {
  batch->entries.at(i).output = value;
  return true;
}
bool llama_batch_ext_set_pos(llama_batch_ext* batch, int32_t i, const llama_pos* position) {
  batch->entries.at(i).position = *position;
  return true;
}
int32_t llama_process(llama_context* context, llama_process_type, llama_batch_ext* batch) {
  if (batch->entries.size() > batch_tokens) return -1;
  context->rows.clear();
  for (const auto& entry : batch->entries) {
    if (entry.position != context->memory.last(entry.sequence) + 1) return -1;
    auto& places = context->memory.sequences[entry.sequence];
    const int state = successors.at(places.empty() ? 0 : places.back().state).at(entry.token);
    if (recurrent) places.clear();
    places.push_back({entry.position, state});
    context->rows.push_back(entry.output ? state : -1);
  }
  return 0;
}
float* llama_get_logits_ith(llama_context* context, int32_t i) {
  const int row = context->rows.at(i);
  return row < 0 ? nullptr : context->model->logits.at(row).data();
}
float* llama_get_sampled_probs_ith(llama_context*, int32_t) { return nullptr; }
float* llama_get_sampled_logits_ith(llama_context*, int32_t) { return nullptr; }
llama_token* llama_get_sampled_candidates_ith(llama_context*, int32_t) { return nullptr; }
llama_token llama_get_sampled_token_ith(llama_context*, int32_t) { return LLAMA_TOKEN_NULL; }

llama_memory_t llama_get_memory(const llama_context* context) { return &const_cast<llama_context*>(context)->memory; }
void llama_memory_clear(llama_memory_t memory, bool) { memory->sequences.clear(); }
bool llama_memory_seq_rm(llama_memory_t memory, llama_seq_id sequence, llama_pos first, llama_pos end) {
  auto& places = memory->sequences[sequence];
  const int last = memory->last(sequence);
  if (first > last) return true;
  if (end >= 0 && end <= last) return false;
  if (recurrent && first > 0) return false;
  while (!places.empty() && places.back().position >= first) places.pop_back();
  return true;
}
llama_pos llama_memory_seq_pos_max(llama_memory_t memory, llama_seq_id sequence) { return memory->last(sequence); }
llama_pos llama_memory_seq_pos_min(llama_memory_t memory, llama_seq_id sequence) {
  return memory->sequences[sequence].empty() ? -1 : memory->sequences[sequence].front().position;
}
bool llama_memory_can_shift(llama_memory_t) { return false; }
size_t llama_state_seq_get_size_ext(llama_context* context, llama_seq_id sequence, llama_state_seq_flags) {
  return context->memory.sequences[sequence].size() * sizeof(Place);
}
size_t llama_state_seq_get_data_ext(llama_context* context, uint8_t* out, size_t size, llama_seq_id sequence,
                                    llama_state_seq_flags) {
  std::memcpy(out, context->memory.sequences[sequence].data(), size);
  return size;
}
size_t llama_state_seq_set_data_ext(llama_context* context, const uint8_t* in, size_t size, llama_seq_id sequence,
                                    llama_state_seq_flags) {
  auto& places = context->memory.sequences[sequence];
  places.resize(size / sizeof(Place));
  std::memcpy(places.data(), in, size);
  return size;
}

llama_model* llama_model_load_from_file(const char* path, llama_model_params) {
  return &models[std::string(path) == "proposal"];
}
llama_context* llama_init_from_model(llama_model* model, llama_context_params) { return new llama_context{model}; }
void llama_free(llama_context* context) { delete context; }
void llama_model_free(llama_model*) {}
const llama_model* llama_get_model(const llama_context* context) { return context->model; }
const llama_vocab* llama_model_get_vocab(const llama_model* model) { return &model->vocab; }
int32_t llama_vocab_n_tokens(const llama_vocab* vocab) { return vocab->size; }
bool llama_vocab_is_eog(const llama_vocab*, llama_token token) { return is_end(token); }
int32_t llama_token_to_piece(const llama_vocab*, llama_token token, char* out, int32_t, int32_t, bool) {
  const std::string text = piece(token);
  std::copy(text.begin(), text.end(), out);
  return static_cast<int32_t>(text.size());
}
const char* llama_vocab_get_text(const llama_vocab*, llama_token) { return ""; }
enum llama_vocab_type llama_vocab_type(const llama_vocab*) { return LLAMA_VOCAB_TYPE_BPE; }
llama_token llama_vocab_bos(const llama_vocab*) { return LLAMA_TOKEN_NULL; }
llama_token llama_vocab_eos(const llama_vocab*) { return ends.empty() ? LLAMA_TOKEN_NULL : ends.front(); }
llama_token llama_vocab_sep(const llama_vocab*) { return LLAMA_TOKEN_NULL; }
bool llama_vocab_get_add_bos(const llama_vocab*) { return false; }
bool llama_vocab_get_add_eos(const llama_vocab*) { return false; }
const llama_token* llama_vocab_get_suppress_tokens(const llama_vocab*, int32_t* count) {
  *count = 0;
  return nullptr;
}
uint32_t llama_n_batch(const llama_context*) { return batch_tokens; }
uint32_t llama_n_ubatch(const llama_context*) { return batch_tokens; }
uint32_t llama_n_ctx(const llama_context*) { return 1u << 16; }
uint32_t llama_n_ctx_seq(const llama_context*) { return 1u << 12; }
uint32_t llama_n_seq_max(const llama_context*) { return static_cast<uint32_t>(slots); }
uint32_t llama_n_rs_seq(const llama_context*) { return 0; }
int32_t llama_model_n_ctx_train(const llama_model*) { return 1 << 16; }
int32_t llama_model_n_embd_inp(const llama_model*) { return 1; }
int32_t llama_model_n_swa(const llama_model*) { return 0; }
enum llama_rope_type llama_model_rope_type(const llama_model*) { return LLAMA_ROPE_TYPE_NORM; }
llama_model_params llama_model_default_params() { return {}; }
llama_context_params llama_context_default_params() { return {}; }
size_t llama_max_devices() { return 1; }
int64_t ggml_time_us() {
  static int64_t now = 0;
  return ++now;
}
const char* llama_model_meta_key_str(enum llama_model_meta_key) { return nullptr; }
int32_t llama_model_meta_val_str(const llama_model*, const char*, char*, size_t) { return -1; }
llama_sampler_chain_params llama_sampler_chain_default_params() { return {true}; }
ggml_backend_dev_t ggml_backend_dev_by_type(enum ggml_backend_dev_type) { return nullptr; }
enum llama_pooling_type llama_pooling_type(const llama_context*) { return LLAMA_POOLING_TYPE_NONE; }
int32_t llama_set_adapters_lora(llama_context*, llama_adapter_lora**, size_t, float*) { return 0; }
void mtmd_free(mtmd_context*) {}
void llama_set_embeddings(llama_context*, bool) {}
int32_t llama_detokenize(const llama_vocab*, const llama_token*, int32_t, char*, int32_t, bool, bool) { return 0; }
void llama_synchronize(llama_context*) {}
bool llama_set_sampler(llama_context*, llama_seq_id, llama_sampler*) { return true; }
void mtmd_input_chunk_free(mtmd_input_chunk*) {}
mtmd_context_params mtmd_context_params_default() { return {}; }
void mtmd_helper_log_set(ggml_log_callback, void*) {}
mtmd_helper_init_opt mtmd_helper_init_opt_default() { return {}; }
int64_t ggml_time_ms() { return ggml_time_us(); }
void ggml_abort(const char* file, int line, const char* format, ...) {
  std::fprintf(stderr, "abort %s:%d: ", file, line);
  va_list given;
  va_start(given, format);
  std::vfprintf(stderr, format, given);
  va_end(given);
  std::_Exit(3);
}
}

// Chat templates and the parser of chat answers are never used by /completion.
common_chat_templates_ptr common_chat_templates_init(const llama_model*, const std::string&, const std::string&,
                                                     const std::string&) {
  return nullptr;
}
void common_chat_templates_free(common_chat_templates*) {}
bool common_chat_templates_support_enable_thinking(const common_chat_templates*) { return false; }
std::map<std::string, bool> common_chat_templates_get_caps(const common_chat_templates*) {
  return {{"supports_preserve_reasoning", false}};
}
std::string common_chat_format_example(const common_chat_templates*, bool,
                                       const std::map<std::string, std::string>&) {
  return "";
}
common_chat_msg common_chat_parse(const std::string&, bool, const common_chat_parser_params&) { return {}; }
int common_log_get_verbosity_thold() { return -100; }

int main() try {
  const json input = json::parse(std::string(std::istreambuf_iterator<char>(std::cin), {}));
  const auto table = [&](const char* name) {
    Table logits;
    for (const auto& row : input.at(name)) {
      logits.emplace_back();
      for (const auto& p : row) logits.back().push_back(static_cast<float>(std::log(p.get<double>())));
    }
    return logits;
  };
  for (const auto& row : input.at("next")) successors.push_back(row.get<std::vector<int>>());
  ends = input.at("ends").get<std::vector<int>>();
  slots = input.at("slots").get<int>();
  recurrent = input.at("recurrent").get<bool>();
  models[0].logits = table("target");
  models[1].logits = table("proposal");
  for (llama_model& model : models) model.vocab.size = static_cast<int>(model.logits[0].size());

  common_params params;
  params.model.path = "target";
  params.n_parallel = slots;
  params.n_batch = params.n_ubatch = batch_tokens;
  params.warmup = params.fit_params = false;
  params.sampling.backend_sampling = false;
  if (const int drafts = input.at("drafts").get<int>()) {
    params.speculative.draft.mparams.path = "proposal";
    params.speculative.draft.n_max = drafts;
    params.speculative.types = {COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE};
  }
  server_context server;
  if (!server.load_model(params)) return 1;
  auto reader = server.get_response_reader();
  std::vector<server_task> tasks;
  for (const auto& request : input.at("requests")) {
    server_task task(SERVER_TASK_TYPE_COMPLETION);
    task.id = reader.get_new_id();
    task.index = tasks.size();
    task.tokens = server_tokens(request.at("prompt").get<std::vector<int>>(), false);
    task.params = server_schema::eval_llama_cmpl_schema(&models[0].vocab, params, {}, request);
    tasks.push_back(std::move(task));
  }
  reader.post_tasks(std::move(tasks));
  std::thread loop([&server] { server.start_loop(); });
  const auto answered = reader.wait_for_all([] { return false; });
  json texts = json::array();
  uint64_t drafted = 0, longest = 0;
  for (const auto& result : answered.results) {
    const auto& text = dynamic_cast<server_task_result_cmpl_final&>(*result);
    texts.push_back(json(text.tokens));
    drafted += text.stats.n_draft_tokens;
    longest = std::max<uint64_t>(longest, text.tokens.size());
  }
  if (answered.error) std::cerr << answered.error->to_json().dump() << "\n";
  // Drafting may fail without an error. The server drafts nothing before the last tokens of a text.
  const bool drafts_missing = input.at("drafts").get<int>() > 0 && longest >= 8 && drafted == 0;
  if (drafts_missing) std::cerr << "no drafts\n";
  std::cout << texts.dump() << std::endl;
  server.terminate();
  loop.join();
  std::_Exit(answered.error || drafts_missing ? 1 : 0);
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
