/* The C adapter: a shared library with a verifier exports one function, draftproof_adapter. draftproof loads the
   library in a child process, sends rows and drafts, and judges the tokens that come back. C11 and C++; no other header
   of draftproof is needed.

     const dp_verifier* draftproof_adapter(uint32_t abi);    returns a static table of functions, NULL for another ABI

   Example: examples/adapter/verifier.c. To compile one: cc -shared -fPIC -O2 verifier.c -o verifier.so

   Rules for all structs and calls
     - The first field of a struct is its size in bytes, set by the side that fills the struct. Later versions append
       fields; a reader uses no field beyond `size`.
     - The caller owns every buffer. The library keeps no pointer after a call returns.
     - Arrays are dense and row-major; the shapes stand beside the fields, first index first.
     - p, q and other inputs are not to be changed.
     - Functions do not throw and do not unwind. C++ libraries catch, Rust libraries catch_unwind, before they return.
     - Calls on one instance come one after the other, from one thread.
     - Names and texts are UTF-8 and end with a zero byte.

   Rust: every type below is #[repr(C)]; pointers to functions are Option<unsafe extern "C" fn(..)>; the exported
   function is #[no_mangle] pub extern "C" fn draftproof_adapter(abi: u32) -> *const DpVerifier.
   CUDA: nvcc -shared -Xcompiler -fPIC verifier.cu -o verifier.so; see examples/adapter/verifier.cu. */
#ifndef DRAFTPROOF_ADAPTER_H
#define DRAFTPROOF_ADAPTER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DRAFTPROOF_ADAPTER_ABI 1u

#if defined(_WIN32)
#define DRAFTPROOF_ADAPTER_EXPORT __declspec(dllexport)
#else
#define DRAFTPROOF_ADAPTER_EXPORT __attribute__((visibility("default")))
#endif

enum { DP_FLOAT32 = 0, DP_FLOAT64 = 1, DP_FLOAT16 = 2, DP_BFLOAT16 = 3 }; /* dtype of p and q */
enum { DP_PROBABILITIES = 0, DP_LOGITS = 1 };                             /* kind of p and q */
enum { DP_SCRIPTED = 0, DP_SEEDED = 1, DP_OPAQUE = 2 };                   /* who chooses the random numbers */

/* Levels: the unit that a verifier decides on. n is the number of drafted tokens of a row.
     level         rows of p   rows of q   drafts
     DP_POSITION   1           1 or n      n candidates for one token, all of one proposal or of one each
     DP_CHAIN      n + 1       n           n tokens, one after the other
     DP_TREE       n + 1       n           n nodes; parents[i] is the draft before draft i, -1 for a child of the
                                           root; a parent stands before its children
   Row 0 of p is the target after the context and row i + 1 the target after draft i. Row i of q is the proposal that
   draft i was drawn from. */
enum { DP_POSITION = 0, DP_CHAIN = 1, DP_TREE = 2 };

/* Status of one row; as the value that a function returns, the status of a whole call. */
enum {
  DP_OK = 0,
  DP_BAD_INPUT = 1,   /* refused: not a row that the library can read */
  DP_UNSUPPORTED = 2, /* a correct row of a kind that the library does not serve */
  DP_FAILED = 3,      /* an error of the library */
  DP_NO_MASS = 4,     /* a draw from weights that are all zero or not finite */
  DP_TAPE_SHORT = 5   /* more draws than the tape has: set by the host, whatever the library returns */
};

/* Where an array lives, as in DLPack's DLDevice with its numbers kDLCPU and kDLCUDA. */
enum { DP_CPU = 1, DP_CUDA = 2 };
typedef struct dp_device {
  int32_t type; /* DP_CPU or DP_CUDA */
  int32_t id;   /* number of the device, 0 for DP_CPU */
} dp_device;

/* Settings of a request: the columns of dp_batch.settings. The temperature divides logits, so p becomes p^(1/T); then
   top-k, top-p and min-p remove tokens, in this order. */
enum { DP_TEMPERATURE = 0, DP_TOP_K = 1, DP_TOP_P = 2, DP_MIN_P = 3 };

/* Bit of an enumerator in the masks of dp_verifier: DP_BIT(DP_FLOAT32) | DP_BIT(DP_FLOAT64). */
#define DP_BIT(value) (1u << (value))

/* The random numbers of scripted calls. A verifier that declares DP_SCRIPTED makes every draw of row `row` through
   these functions, in an order that depends only on the row's input and on the numbers returned so far. Pass the
   member `self` unchanged. `stream` names what the number is for ("accept", "residual", "bonus", ..) and may be NULL.
   Several threads may draw at the same time for different rows. If no number is left, the functions still return
   values, and the row gets DP_TAPE_SHORT. */
typedef struct dp_tape {
  size_t size;
  void* self;
  /* Returns a uniform number in [0, 1), a multiple of 2^-bits, 1 <= bits <= 53: 24 bits for a generator of floats, 53
     for a generator of doubles. Returns 0.0 if no number is left. */
  double (*uniform)(void* self, int32_t row, int32_t bits, const char* stream);
  /* Makes a categorical draw and returns the cell, 0 .. n - 1. weights[n] need not sum to 1; they are judged as the
     distribution of this draw. Returns -1 if no weight is positive, or some weight is negative or not finite; the row
     then gets DP_NO_MASS. */
  int32_t (*pick)(void* self, int32_t row, const double* weights, int32_t n, const char* stream);
  /* Writes n exponential variates of rate 1 for a race to out[n]. Gumbel noise is -log of them. */
  void (*race)(void* self, int32_t row, double* out, int32_t n, const char* stream);
  /* Returns an integer of 0 .. n - 1, all equally likely; n >= 1. */
  int32_t (*integer)(void* self, int32_t row, int32_t n, const char* stream);
} dp_tape;

/* Rows of a batch. For `draft`, p, drafts and parents are NULL, q has one row, and lengths[i] drafts are wanted. */
typedef struct dp_batch {
  size_t size;
  int32_t rows;           /* b */
  int32_t vocabulary;     /* V */
  int32_t longest;        /* n: the largest of lengths */
  int32_t p_rows, q_rows; /* P and Q: rows of p and q (see the levels above) */
  int32_t kind, dtype;    /* of p and q */
  int32_t randomness;     /* DP_SCRIPTED: tape; DP_SEEDED: seeds; DP_OPAQUE: neither */
  dp_device device;       /* where p and q live; all other arrays are in host memory */
  const void* p;          /* [b][P][V] */
  const void* q;          /* [b][Q][V] */
  const int32_t* drafts;  /* [b][n], -1 after the row's length */
  const int32_t* lengths; /* [b] */
  const int32_t* parents; /* [b][n] for DP_TREE, else NULL */
  const uint64_t* seeds;  /* [b]: equal rows with equal seeds give equal tokens; or NULL */
  const dp_tape* tape;    /* or NULL */
  int32_t state_size;     /* S, as declared; 0 for `draft` */
  const double* state;    /* [b][S]: as the previous call returned it, zeros in a first call; NULL if S is 0 */
  const int32_t* legal;   /* since 1.5, [b][P][V] with `grammar`, else NULL: 1 where the grammar allows the token */
  const double* settings; /* since 1.6, [b][4] with `settings`, else NULL: temperature, top-k, top-p and min-p */
} dp_batch;

/* Results. The library writes every entry of counts and status, and the first counts[i] tokens of row i. */
typedef struct dp_result {
  size_t size;
  int32_t stride;  /* entries of a row of tokens, at least n + 1 */
  int32_t* tokens; /* [b][stride]: accepted drafts, then one more; drafts, for `draft` */
  int32_t* counts; /* [b]: number of tokens of each row */
  int32_t* status; /* [b] */
  char* message;   /* the library's error message, cut to message_size with its zero byte; empty at first */
  size_t message_size;
  double* state; /* [b][S]: finite numbers for the row's next call, where status is DP_OK; NULL if S is 0 */
} dp_result;

/* For `generate`: row t of target and proposal is the distribution of the token after token t. A text starts after
   token 0. */
typedef struct dp_models {
  size_t size;
  int32_t vocabulary; /* V */
  int32_t drafts;     /* drafted tokens of a step */
  int32_t length;     /* N: tokens to write */
  uint64_t seed;
  const double* target;   /* [V][V] */
  const double* proposal; /* [V][V] */
} dp_models;

typedef struct dp_text {
  size_t size;
  int32_t* tokens; /* [N] */
  char* message;   /* as in dp_result */
  size_t message_size;
} dp_text;

/* For `select`: one request with n drafts in a chain or tree, whose longest path has L. A parent comes before its
   children. */
typedef struct dp_drafted {
  int32_t drafts;                /* n */
  int32_t length;                /* L */
  int32_t accepted;              /* drafts accepted in the previous step */
  const int32_t* tokens;         /* [n] */
  const int32_t* parents;        /* [n]: the parent of each draft, -1 for the context itself */
  const double* q;               /* [n][V]: the row that each draft was drawn from */
  const int32_t* legal;          /* [n][V]: 1 if the grammar allows the token there */
  const double* confidence;      /* [n + 1]: confidence before any draft, then after each draft */
  const double* past_confidence; /* [L]: confidence at each position of the previous step */
} dp_drafted;

typedef struct dp_selection {
  size_t size;
  int32_t vocabulary;        /* V */
  int32_t requests;          /* b */
  int32_t budget;            /* most drafts that are verified, over all requests */
  int32_t costs;             /* c */
  const double* cost;        /* [c]: cost of verifying 0, 1, .. drafts; the last entry is used for more */
  const dp_drafted* request; /* [b] */
} dp_selection;

/* When a selection takes effect. BEFORE_VERIFICATION: the verifier receives the kept drafts only. AFTER_WITH_TOKEN: it
   receives all drafts, and its output is cut after the token that follows the last kept draft. AFTER: it receives all
   drafts, and its output is cut after the last kept draft. */
enum { DP_CUT_BEFORE_VERIFICATION = 0, DP_CUT_AFTER_WITH_TOKEN = 1, DP_CUT_AFTER = 2 };

/* The declaration, and the functions. Texts may be NULL and numbers 0 for the defaults in brackets. */
typedef struct dp_verifier {
  size_t size;
  uint32_t abi;               /* DRAFTPROOF_ADAPTER_ABI */
  const char* name;           /* not NULL */
  const char* version;        /* of the engine [""] */
  const char* draft_sampling; /* draft sampling that the verifier is written for, as draftproof names it ["iid"] */
  int32_t level;              /* DP_POSITION, DP_CHAIN, DP_TREE */
  uint32_t randomness;        /* DP_BITs of the supported modes [DP_SCRIPTED] */
  uint32_t dtypes;            /* [DP_FLOAT32] */
  uint32_t kinds;             /* [DP_PROBABILITIES] */
  uint32_t devices;           /* DP_BITs of DP_CPU, DP_CUDA where rows may live [DP_CPU] */
  int32_t most_rows;          /* b <= [4096] */
  int32_t fewest_drafts;      /* n >= [0: 1] */
  int32_t most_drafts;        /* n <= [0: no limit] */
  int32_t most_vocabulary;    /* V <= [0: no limit] */
  int32_t coin_bits;          /* uniforms are multiples of 2^-coin_bits [24] */
  int32_t equal_lengths;      /* 1: all rows of a batch must have the same length */
  int32_t nondeterministic;   /* 1: equal calls may have different results */
  double tolerance;           /* total variation from the target that an approximate rule admits [0] */

  /* Makes an instance from options, a JSON object. If it cannot, it returns NULL and writes the reason to
     error[error_size]. A library without `create` gets NULL as `self` in all calls. */
  void* (*create)(const char* options, char* error, size_t error_size);
  void (*destroy)(void* self);

  /* Replaces the declaration of the library by the declaration of an instance, for a library with several verifiers;
     optional. It is called once after `create`, with `declared` a copy of the table. Texts must stay valid as long as
     the instance. */
  int32_t (*describe)(void* self, struct dp_verifier* declared);

  /* Decides on all rows. Returns DP_OK, or a status that refuses the batch as a whole. */
  int32_t (*verify)(void* self, const dp_batch* batch, dp_result* result);
  /* Draws drafts with the engine's own drafter; optional. */
  int32_t (*draft)(void* self, const dp_batch* batch, dp_result* result);
  /* Writes a text, for a whole engine from which no verifier can be separated; optional. */
  int32_t (*generate)(void* self, const dp_models* models, dp_text* text);

  /* For a library that declares DP_CUDA and not DP_CPU: `upload` copies `bytes` of host memory to device 0 and stores
     the address there in *to; `release` frees it. */
  int32_t (*upload)(void* self, const void* from, size_t bytes, void** to);
  void (*release)(void* self, void* uploaded);

  /* Since 1.2 of the protocol. For a verifier that is exact over several calls only: how many numbers a row's result
     passes to the next call on the same text. That call continues after the tokens emitted so far [0: calls are
     independent]. */
  int32_t state_size;

  /* Since 1.4 of the protocol: a selection policy, optional. Writes 1 to kept[i] for each draft that is to be verified
     and 0 for each other draft, the drafts of all requests one after another. Returns DP_OK, or a status that refuses
     the selection. A draft may be kept only if its parent is kept. */
  int32_t (*select)(void* self, const dp_selection* selection, int32_t* kept);
  int32_t select_cut;            /* [DP_CUT_BEFORE_VERIFICATION] */
  int32_t select_trees;          /* 1: the policy chooses from trees too [0: from chains alone] */
  int32_t select_matching_alone; /* 1: the policy is for sample-and-match alone [0] */

  /* Since 1.5 of the protocol. 1: `verify` gets `legal`, the masks of the rows of p, which are not applied to p [0].
     Beyond a row's length all tokens are allowed. */
  int32_t grammar;

  /* Since 1.6 of the protocol. DP_BIT of each setting that `verify` applies to rows of p itself: it gets rows of p
     without them, and `settings` of each request [0: p is final]. Settings without a bit have the values that change
     nothing: 1, 0, 1, 0. */
  uint32_t settings;
  uint32_t reserved; /* 0 */
} dp_verifier;

DRAFTPROOF_ADAPTER_EXPORT const dp_verifier* draftproof_adapter(uint32_t abi);

#ifdef __cplusplus
}
#endif
#endif
