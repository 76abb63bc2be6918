// Two Markov tables in place of libllama and libcommon, for llama.cpp's examples/speculative/speculative.cpp and
// examples/speculative-simple/speculative-simple.cpp.
//
// Each example is compiled unchanged against llama.cpp's headers, with its `main` renamed by
// -Dmain=llama_speculative_main, and linked with this file. The simple example is also linked with
// common/speculative.cpp and common/sampling.cpp as shared libraries, whose functions are replaced by functions of the
// same name here. A "model" is a table of V rows: row t is the distribution of the token after token t. Sampling
// applies top-k, sorts by probability as the library does, and draws. Everything else that an example calls does
// nothing.
//
// usage: PROGRAM TABLES LENGTH DRAFTS SEQUENCES TOP_K SEED MODE;  TABLES has V, then the rows of target and proposal.
// MODE is 0 for the first example, 1 for the simple one, 2 for the simple one on models that can only be restored from
// checkpoints. Tokens that the target's sampler accepted, or that the simple example writes, go to standard output, as
// int32.
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "arg.h"
#include "common.h"
#include "llama.h"
#include "log.h"
#include "sampling.h"
#include "speculative.h"

int llama_speculative_main(int argc, char** argv);

namespace {

using Table = std::vector<std::vector<float>>;
Table tables[2];  // the rows of the target and of the draft model
int vocabulary = 0, length = 0, drafts = 1, sequences = 1, top_k = 0, seed = 0, mode = 0;
int models_made = 0, samplers_made = 0;
std::vector<int> emitted;
common_sampler* target_sampler = nullptr;

}  // namespace

struct llama_model {
  int which;
};
struct llama_context {
  int which;
  std::vector<int> tokens;  // tokens of the last batch; token i selects the row for logits i
};
struct llama_vocab {};

namespace {
llama_model models[2] = {{0}, {1}};
llama_context contexts[2] = {{0, {}}, {1, {}}};
llama_vocab vocab;
}  // namespace

struct common_init_result::impl {
  int which;
};
common_init_result::common_init_result(common_params&, bool) : pimpl(new impl{models_made++}) {}
common_init_result::~common_init_result() {}
llama_model* common_init_result::model() { return &models[pimpl->which]; }
llama_context* common_init_result::context() { return &contexts[pimpl->which]; }
common_init_result_ptr common_init_from_params(common_params& params, bool only) {
  return std::make_unique<common_init_result>(params, only);
}

struct common_sampler {
  std::vector<llama_token_data> cells;
  llama_token_data_array view{};
  std::mt19937_64 random;
};
common_sampler* common_sampler_init(const llama_model* model, common_params_sampling& params) {
  auto* made = new common_sampler;
  made->random.seed(params.seed * 77u + 1000u * static_cast<unsigned>(samplers_made++));
  if (model->which == 0 && target_sampler == nullptr) target_sampler = made;
  return made;
}
void common_sampler_free(common_sampler* sampler) { delete sampler; }
common_sampler* common_sampler_clone(common_sampler* sampler) {
  auto* made = new common_sampler;
  if (mode > 0)
    made->random = sampler->random;  // the library copies too, to replay steps after a checkpoint
  else
    made->random.seed(sampler->random());
  return made;
}
void common_sampler_reset(common_sampler*) {}
void common_sampler_accept(common_sampler* sampler, llama_token token, bool) {
  if (mode == 0 && sampler == target_sampler) emitted.push_back(token);
}
llama_token common_sampler_sample(common_sampler* sampler, llama_context* context, int index, bool) {
  const auto& row = tables[context->which][context->tokens.at(index)];
  auto& cells = sampler->cells;
  cells.clear();
  for (int i = 0; i < vocabulary; ++i) cells.push_back({i, std::log(row[i]), row[i]});
  std::stable_sort(cells.begin(), cells.end(), [](const auto& a, const auto& b) { return a.p > b.p; });
  if (top_k > 0 && top_k < static_cast<int>(cells.size())) cells.resize(top_k);
  float sum = 0;
  for (const auto& cell : cells) sum += cell.p;
  for (auto& cell : cells) cell.p /= sum;
  const double u = std::uniform_real_distribution<>()(sampler->random);
  double below = 0;
  size_t drawn = 0;
  for (; drawn + 1 < cells.size(); ++drawn) {
    below += cells[drawn].p;
    if (u < below) break;
  }
  sampler->view = {cells.data(), cells.size(), static_cast<int64_t>(drawn), true};
  return cells[drawn].id;
}
llama_token_data_array* common_sampler_get_candidates(common_sampler* sampler, bool) { return &sampler->view; }

common_batch::common_batch(llama_context*) {}
void common_batch::clear() { tokens.clear(); }
int32_t common_batch::add(llama_token id, llama_pos pos, llama_seq_id seq, bool output) {
  token entry{};
  entry.id = id;
  entry.pos[0] = pos;
  entry.seq_id = seq;
  entry.output = output;
  tokens.push_back(entry);
  return static_cast<int32_t>(tokens.size()) - 1;
}
bool common_batch::add_seq(int32_t i, llama_seq_id seq) {
  tokens[i].seq_ids_extra.push_back(seq);
  return true;
}
llama_batch_ext* common_batch::get_sub_batch(int32_t, int32_t) { return reinterpret_cast<llama_batch_ext*>(this); }
common_batch common_batch_get_one(llama_context*, const llama_token* tokens, int32_t count) {
  common_batch batch;
  for (int i = 0; i < count; ++i) batch.add(tokens[i], i, 0, true);
  return batch;
}
void llama_batch_ext_free(llama_batch_ext*) {}
int32_t llama_process(llama_context* context, llama_process_type, llama_batch_ext* batch) {
  context->tokens.clear();
  for (const auto& token : reinterpret_cast<common_batch*>(batch)->tokens) context->tokens.push_back(token.id);
  return 0;
}

void common_init() {}
bool common_params_parse(int, char**, common_params& params, llama_example, void (*)(int, char**)) {
  params.n_predict = length;
  params.n_parallel = sequences;
  params.speculative.draft.n_max = drafts;
  params.speculative.draft.mparams.path = "table";
  params.speculative.types = {COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE};
  params.sampling.seed = seed;
  params.sampling.temp = 1.0f;
  return true;
}
common_speculative_output_limits common_speculative_get_output_limits(int, int, int) { return {1024, 1024}; }
std::vector<llama_token> common_tokenize(const llama_context*, const std::string&, bool, bool) { return {0, 0}; }
std::string common_token_to_piece(const llama_context* context, llama_token token, bool) {
  if (mode > 0 && context->which == 0) emitted.push_back(token);
  return "";
}
llama_model_params common_model_params_to_llama(common_params&) { return {}; }
llama_context_params common_context_params_to_llama(const common_params&) { return {}; }
common_context_seq_rm_type common_context_can_seq_rm(llama_context*) {
  return mode == 2 ? COMMON_CONTEXT_SEQ_RM_TYPE_FULL : COMMON_CONTEXT_SEQ_RM_TYPE_PART;
}
bool common_prompt_checkpoint::empty() const { return false; }
void common_prompt_checkpoint::update_pos(int64_t tokens, llama_pos, llama_pos) { n_tokens = tokens; }
void common_prompt_checkpoint::update_tgt(llama_context*, llama_seq_id, llama_state_seq_flags) {}
void common_prompt_checkpoint::update_dft(llama_context*, llama_seq_id, llama_state_seq_flags) {}
void common_prompt_checkpoint::load_tgt(llama_context*, llama_seq_id, llama_state_seq_flags) const {}
void common_prompt_checkpoint::load_dft(llama_context*, llama_seq_id, llama_state_seq_flags) const {}
common_time_meas::common_time_meas(int64_t& total, bool) : t_start_us(0), t_acc(total) {}
common_time_meas::~common_time_meas() {}
std::string common_token_to_piece(const llama_vocab*, llama_token, bool) { return ""; }
std::string string_from(const llama_context*, const std::vector<llama_token>&) { return ""; }
void common_perf_print(const llama_context*, const common_sampler*) {}
int common_log_get_verbosity_thold() { return -100; }
common_log* common_log_main() { return nullptr; }
void common_log_add(common_log*, ggml_log_level, const char*, ...) {}

extern "C" {
void ggml_abort(const char* file, int line, const char*, ...) {
  std::fprintf(stderr, "abort %s:%d\n", file, line);
  std::abort();
}
int64_t ggml_time_us() { return 1; }
void llama_backend_free() {}
void llama_backend_init() {}
llama_memory_t llama_get_memory(const llama_context*) { return nullptr; }
void llama_free(llama_context*) {}
const llama_model* llama_get_model(const llama_context* context) { return &models[context->which]; }
llama_context* llama_init_from_model(llama_model* model, llama_context_params) { return &contexts[model->which]; }
size_t llama_max_devices() { return 1; }
void llama_memory_seq_cp(llama_memory_t, llama_seq_id, llama_seq_id, llama_pos, llama_pos) {}
void llama_memory_seq_keep(llama_memory_t, llama_seq_id) {}
llama_pos llama_memory_seq_pos_max(llama_memory_t, llama_seq_id) { return 0; }
llama_pos llama_memory_seq_pos_min(llama_memory_t, llama_seq_id) { return 0; }
bool llama_memory_seq_rm(llama_memory_t, llama_seq_id, llama_pos, llama_pos) { return true; }
const llama_vocab* llama_model_get_vocab(const llama_model*) { return &vocab; }
void llama_model_free(llama_model*) {}
llama_model* llama_model_load_from_file(const char*, llama_model_params) { return &models[1]; }
int32_t llama_model_n_embd_inp(const llama_model*) { return 1; }
uint32_t llama_n_batch(const llama_context*) { return 1u << 10; }
uint32_t llama_n_ctx(const llama_context*) { return 1u << 30; }
uint32_t llama_n_seq_max(const llama_context*) { return 1; }
void llama_numa_init(ggml_numa_strategy) {}
void llama_perf_context_print(const llama_context*) {}
llama_token llama_vocab_bos(const llama_vocab*) { return 0; }
llama_token llama_vocab_eos(const llama_vocab*) { return 0; }
bool llama_vocab_get_add_bos(const llama_vocab*) { return false; }
bool llama_vocab_get_add_eos(const llama_vocab*) { return false; }
const char* llama_vocab_get_text(const llama_vocab*, llama_token) { return ""; }
bool llama_vocab_is_eog(const llama_vocab*, llama_token) { return false; }
int32_t llama_vocab_n_tokens(const llama_vocab*) { return vocabulary; }
enum llama_vocab_type llama_vocab_type(const llama_vocab*) { return LLAMA_VOCAB_TYPE_BPE; }
}

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  std::FILE* file = std::fopen(argv[1], "r");
  if (file == nullptr || std::fscanf(file, "%d", &vocabulary) != 1) return 2;
  for (auto& table : tables) {
    table.assign(vocabulary, std::vector<float>(vocabulary));
    for (auto& row : table) {
      for (auto& x : row) {
        if (std::fscanf(file, "%f", &x) != 1) return 2;
      }
    }
  }
  std::fclose(file);
  int* const options[] = {&length, &drafts, &sequences, &top_k, &seed, &mode};
  for (int i = 0; i < 6; ++i) *options[i] = std::atoi(argv[2 + i]);
  if (llama_speculative_main(1, argv) != 0) return 1;
  std::fwrite(emitted.data(), sizeof(int), emitted.size(), stdout);
}
