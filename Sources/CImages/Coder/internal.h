#ifndef CJPEGCODER_INTERNAL_H
#define CJPEGCODER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CJPEGCoder.h"

#if defined(__x86_64__)
/// Marks a function for processors with AVX2 and the bit manipulation instructions.
#define CJPEGCODER_FAST_TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#endif

/// Forces the common body of the portable and the fast variant of a function to be inlined into both.
#define CJPEGCODER_SHARED_BODY static inline __attribute__((always_inline))

enum {
  /// The coefficients of one block.
  CJPEGCODER_BLOCK = 64,
  /// The maximum number of blocks transformed at once; their coefficients stay in the level 1 cache until tokenised.
  CJPEGCODER_STRIP = 32,
  /// Y, Cb and Cr.
  CJPEGCODER_COMPONENTS = 3,
  /// The number of scans in a file.
  CJPEGCODER_SCANS = 6,
  /// The number of tokens in a chunk, which with its header takes just under 64 KiB.
  CJPEGCODER_CHUNK_TOKENS = 16368
};

// MARK: Quantisation

/// A quantisation table with the factors that replace the divisions; all but `values` are in natural (row by row)
/// order.
typedef struct {
  /// Half of each divisor, added before dividing so that the quotient is rounded.
  uint16_t bias[CJPEGCODER_BLOCK];
  /// The first factor that replaces the division: quotient = ((n * reciprocal) >> 16) * scale >> 16.
  uint16_t reciprocal[CJPEGCODER_BLOCK];
  /// The second factor, a power of two.
  uint16_t scale[CJPEGCODER_BLOCK];
  /// The table as DQT carries it, in zigzag order.
  uint8_t values[CJPEGCODER_BLOCK];
} cjpegcoder_quantiser;

/// Properties of each coefficient of a block, one bit each: bit 63 - k is for zigzag index k.
///
/// The highest bit is for the lowest index, so that bits extracted from a mask are already in the order of the file,
/// most significant first.
typedef struct {
  /// The coefficient is not zero.
  uint64_t nonzero;
  /// Its magnitude is more than one.
  uint64_t above_one;
  /// It is below zero.
  uint64_t negative;
  /// The lowest bit of its magnitude is set.
  uint64_t odd;
} cjpegcoder_masks;

/// The natural position (row * 8 + column) of each zigzag index, ITU-T T.81 figure A.6.
extern const uint8_t cjpegcoder_natural_position[CJPEGCODER_BLOCK];

/// Prepares the luma or the chroma table of T.81 annex K.1, scaled to the quality as libjpeg scales it.
void cjpegcoder_prepare_quantiser(cjpegcoder_quantiser *quantiser, bool chroma, int quality);

/// Transforms and quantises 2 * `pairs` horizontally adjacent blocks; entry 63 - k of a block is the coefficient of
/// zigzag index k.
typedef void cjpegcoder_transform(const uint8_t *samples, ptrdiff_t stride, size_t pairs,
                                  const cjpegcoder_quantiser *quantiser,
                                  int16_t (*coefficients)[CJPEGCODER_BLOCK], cjpegcoder_masks *masks);

// MARK: Tokens

/// A symbol to be Huffman-coded and the bits that follow its code: bits 0-7 the symbol, 8-12 the number of bits that
/// follow, 13-31 those bits.
typedef uint32_t cjpegcoder_token;

enum {
  /// The maximum number of bits in a token that follow its symbol.
  CJPEGCODER_TOKEN_BITS = 19,
  /// A symbol that no scan of 8-bit samples uses, for tokens that contain only bits.
  CJPEGCODER_NO_SYMBOL = 0xff,
  /// The offset of the DC symbols of the chroma components, which distinguishes them from the symbols of luma.
  CJPEGCODER_CHROMA_DC = 0x10
};

/// A chunk of a stream's tokens; chunks never move, so that a token can be completed later.
typedef struct cjpegcoder_chunk {
  /// The next chunk, or NULL.
  struct cjpegcoder_chunk *next;
  /// The number of tokens in the chunk; valid once the stream has started another chunk or is finished.
  size_t count;
  /// The tokens.
  cjpegcoder_token tokens[CJPEGCODER_CHUNK_TOKENS];
} cjpegcoder_chunk;

/// The kinds of scans that the encoder writes.
typedef enum {
  /// DC of every component, interleaved, at full precision.
  CJPEGCODER_DC_SCAN,
  /// AC of one component at full precision or without its lowest bits.
  CJPEGCODER_FIRST_SCAN,
  /// The lowest bit of AC of one component.
  CJPEGCODER_REFINEMENT_SCAN
} cjpegcoder_scan_kind;

/// One line of a scan script.
typedef struct {
  cjpegcoder_scan_kind kind;
  /// The component of an AC scan.
  uint8_t component;
  /// The first and the last zigzag index (Ss and Se).
  uint8_t first, last;
  /// The number of low bits omitted, 0 or 1 (Al); a refinement scan adds the bit that the scan before it omitted.
  uint8_t low_bits;
} cjpegcoder_scan;

/// The tokens of one scan while they are collected.
typedef struct {
  cjpegcoder_scan scan;
  /// The first and the last chunk.
  cjpegcoder_chunk *first_chunk, *last_chunk;
  /// The position of the next token, and the end of the last chunk.
  cjpegcoder_token *cursor, *end;
  /// The position reserved for the token of the current end-of-band run.
  cjpegcoder_token *run_token;
  /// The number of blocks in that run so far, 0 if there is no run.
  uint32_t run_length;
  /// Correction bits of that run that do not fill a token yet, and their number.
  uint32_t pending, pending_count;
  /// The last DC value of each component.
  int predicted_dc[CJPEGCODER_COMPONENTS];
  /// The number of occurrences of each symbol.
  uint32_t counts[256];
} cjpegcoder_stream;

/// Adds the AC tokens of some blocks to a stream; false when memory is exhausted.
typedef bool cjpegcoder_tokenise(cjpegcoder_stream *stream, const int16_t (*coefficients)[CJPEGCODER_BLOCK],
                                 const cjpegcoder_masks *masks, size_t blocks);

/// Starts another chunk of a stream; false when memory is exhausted.
bool cjpegcoder_stream_grow(cjpegcoder_stream *stream);
/// Adds the token of one DC value; false when memory is exhausted.
bool cjpegcoder_tokenise_dc(cjpegcoder_stream *stream, int component, int value);
/// Completes the current end-of-band run, if any, and the count of the last chunk.
bool cjpegcoder_stream_finish(cjpegcoder_stream *stream);
/// Frees the tokens of a stream.
void cjpegcoder_stream_free(cjpegcoder_stream *stream);

// MARK: Codes

/// A Huffman table as in a DHT segment.
typedef struct {
  /// The number of codes of each length 1...16; entry 0 is unused.
  uint8_t length_counts[17];
  /// The symbols, by increasing code length.
  uint8_t symbols[256];
  /// The number of symbols.
  int symbol_count;
} cjpegcoder_huffman;

/// Builds the optimal table for symbols that occur `counts` times, with codes of at most 16 bits, none of them all
/// ones.
void cjpegcoder_huffman_build(cjpegcoder_huffman *huffman, const uint32_t *counts, int symbols);
/// Sets `codes[symbol]` to (code << 5 | length) for every symbol of a table.
void cjpegcoder_huffman_codes(const cjpegcoder_huffman *huffman, uint32_t *codes);

// MARK: Writing

/// A bit buffer in front of the file.
typedef struct {
  /// The position of the next byte.
  uint8_t *bytes;
  /// Bits not written yet, with the newest ones lowest.
  uint64_t bits;
  /// The number of bits that still fit, 0...64.
  int room;
} cjpegcoder_bits;

/// Writes the codes and bits of tokens, with a zero byte stuffed after each 0xff byte (T.81 F.1.2.3).
typedef void cjpegcoder_emit(cjpegcoder_bits *sink, const cjpegcoder_token *tokens, size_t count,
                             const uint32_t *codes);

/// Reserves capacity for `more` bytes; false when memory is exhausted.
bool cjpegcoder_reserve(cjpegcoder_buffer *out, size_t more);
/// Writes everything before the first scan.
bool cjpegcoder_write_headers(cjpegcoder_buffer *out, const cjpegcoder_image *image, bool halved_chroma,
                              const cjpegcoder_quantiser quantisers[2]);
/// Writes one Huffman table; `slot` is its class and identifier (Tc << 4 | Th).
bool cjpegcoder_write_huffman(cjpegcoder_buffer *out, int slot, const cjpegcoder_huffman *huffman);
/// Writes the header of a scan.
bool cjpegcoder_write_scan_header(cjpegcoder_buffer *out, const cjpegcoder_scan *scan);
/// Writes a scan from a finished stream and frees the stream; false when memory is exhausted.
bool cjpegcoder_write_scan(cjpegcoder_buffer *out, cjpegcoder_stream *stream, cjpegcoder_emit *emit);
/// Writes the end of the file.
bool cjpegcoder_write_end(cjpegcoder_buffer *out);

// MARK: Variants

/// The inner loops in the variant for one kind of processor. Every variant gives the same bytes.
typedef struct {
  /// Forward DCT and quantisation.
  cjpegcoder_transform *transform;
  /// Tokenisation of the first AC scan of a band.
  cjpegcoder_tokenise *tokenise_first;
  /// Tokenisation of an AC refinement scan.
  cjpegcoder_tokenise *tokenise_refinement;
  /// Conversion of tokens to bits.
  cjpegcoder_emit *emit;
} cjpegcoder_kernels;

/// Forward DCT and quantisation for any processor.
cjpegcoder_transform cjpegcoder_transform_portable;
/// Tokenisation of first scans and of refinement scans for any processor.
cjpegcoder_tokenise cjpegcoder_tokenise_first_portable, cjpegcoder_tokenise_refinement_portable;
/// Conversion of tokens to bits for any processor.
cjpegcoder_emit cjpegcoder_emit_portable;
#if defined(__x86_64__)
/// The same for processors of CJPEGCODER_FAST_TARGET.
cjpegcoder_transform cjpegcoder_transform_avx2;
cjpegcoder_tokenise cjpegcoder_tokenise_first_fast, cjpegcoder_tokenise_refinement_fast;
cjpegcoder_emit cjpegcoder_emit_fast;
#endif

#endif
