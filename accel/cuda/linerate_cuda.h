/* Delta-Rice on NVIDIA GPUs: decodes and encodes chunks of HDF5 filter 32025 (version 1) and
 * version 2 streams in device memory on the caller's stream.
 *
 * `cargo build --release -p linerate-cuda` builds the library (on Linux liblinerate_cuda.so and
 * liblinerate_cuda.a). Building and linking need no CUDA: the driver is loaded at run time, and
 * without one linerate_cuda_codec_new() returns LINERATE_CUDA_NO_DRIVER.
 *
 * Functions that return an int return 0 or one of the error codes below. After a code,
 * linerate_cuda_last_error() returns the text of the error. No function throws an exception, and
 * none aborts the program unless host memory is exhausted. Several threads may use a codec; one
 * thread at a time may use a workspace.
 *
 * In this file a chunk is a chunk of version 1 or a stream of version 2. The arguments named
 * `stream` are CUDA streams, on which the device works.
 */
#ifndef LINERATE_CUDA_H
#define LINERATE_CUDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Error codes of functions. */
enum {
  LINERATE_CUDA_OK = 0,
  LINERATE_CUDA_NO_DRIVER = 1,     /* the driver library cannot be loaded, or lacks a function */
  LINERATE_CUDA_NO_DEVICE = 2,     /* there is no GPU, or none of this number */
  LINERATE_CUDA_OUT_OF_MEMORY = 3, /* device memory or pinned host memory cannot be allocated */
  LINERATE_CUDA_DRIVER = 4,        /* a call of the driver failed */
  LINERATE_CUDA_BAD_ARGUMENT = 5,  /* an argument is null, unaligned or invalid */
  LINERATE_CUDA_PANIC = 6,         /* a bug in the library: please report it */
  LINERATE_CUDA_NO_KERNEL = 7      /* the library has no kernel for this call */
};

/* Outcome of a chunk: 0, or the kind of its error. */
enum {
  LINERATE_CUDA_CHUNK_OK = 0,
  LINERATE_CUDA_TRUNCATED = 1,          /* the chunk ends early; but in version 1 that is mostly
                                         * reported as LINERATE_CUDA_CORRUPT */
  LINERATE_CUDA_CORRUPT = 2,            /* the chunk violates its format or a checksum */
  LINERATE_CUDA_UNSUPPORTED = 3,        /* a version or feature that the library cannot decode */
  LINERATE_CUDA_OUTPUT_TOO_SMALL = 4,   /* the capacity of the job is too small */
  LINERATE_CUDA_CHUNK_BAD_ARGUMENT = 5, /* of version 2 only: samples of another type, bytes after
                                         * the stream, or more than 16 GiB when encoded */
  LINERATE_CUDA_LIMIT = 6               /* more segments than the call has room for (min_segment),
                                         * or a version 1 chunk of about 16 GiB or more */
};

/* Sample types of version 2 streams. */
enum {
  LINERATE_CUDA_I16 = 0,
  LINERATE_CUDA_U16 = 1,
  LINERATE_CUDA_I32 = 2,
  LINERATE_CUDA_U32 = 3
};

/* The kernels of a device. The first call that decodes or encodes loads them and takes longer. */
typedef struct linerate_cuda_codec linerate_cuda_codec;

/* Memory for the descriptors, scratch and results of one call at a time. It grows to the largest
 * call; then calls allocate no more device memory. */
typedef struct linerate_cuda_workspace linerate_cuda_workspace;

/* Parameters of version 1, equal to the cd_values of filter 32025. */
typedef struct linerate_cuda_params {
  uint32_t m;         /* divisor of the Rice code: a power of two, 2 to 32768 (decoding: 1 to 32768) */
  uint32_t segment;   /* samples per segment, or 0 for one segment per chunk */
  uint32_t tap_count; /* number of filter coefficients, at most 32; 0 selects 1 and -1 */
  int32_t taps[32];   /* the coefficients; the first is not 0 (encoding: 1 or -1) */
} linerate_cuda_params;

/* A chunk and its samples, both in device memory. */
typedef struct linerate_cuda_job {
  uint64_t chunk;        /* device address of the chunk, a multiple of 4 */
  uint64_t chunk_bytes;  /* decoding: size of the chunk; encoding: capacity in bytes */
  uint64_t samples;      /* device address of the samples, a multiple of their size */
  uint64_t sample_count; /* decoding: capacity in samples; encoding: number of samples */
} linerate_cuda_job;

/* The result of a chunk. */
typedef struct linerate_cuda_outcome {
  int32_t kind;        /* LINERATE_CUDA_CHUNK_OK, or the kind of its error */
  uint64_t offset;     /* offset of the error, in bytes of the chunk; 0 without an error */
  uint64_t size;       /* decoding: number of samples; encoding: number of bytes; error: 0 */
  const char *message; /* message of the error, a constant; null without an error */
} linerate_cuda_outcome;

/* Returns the text of the last error on this thread, or an empty string if there was none. The text
 * is valid until the next call of a function of this library on this thread. */
const char *linerate_cuda_last_error(void);

/* Creates a codec for device number `device`, counted from 0, in the device's primary context,
 * which CUDA's runtime uses too. After an error `*out` keeps its value. */
int linerate_cuda_codec_new(int device, linerate_cuda_codec **out);
/* Frees a codec and its kernels. Free all of its workspaces first: that waits for the calls which
 * use the kernels. Null is allowed. */
void linerate_cuda_codec_free(linerate_cuda_codec *codec);

/* Creates an empty workspace for calls of `codec`. After an error `*out` keeps its value. */
int linerate_cuda_workspace_new(linerate_cuda_codec *codec, linerate_cuda_workspace **out);
/* Waits for the last call on a workspace and frees it. Null is allowed. */
void linerate_cuda_workspace_free(linerate_cuda_workspace *workspace);

/* The four functions below queue the work of `count` jobs on `stream` (a CUstream or cudaStream_t
 * of the codec's device; null is the default stream) and return. First they wait for the last call
 * on the workspace. The array `jobs` may be freed when they have returned; do not touch the device
 * memory of the jobs until the stream has done the work. */

/* Decodes version 1 chunks to 16-bit samples. The chunks do not store `params`: pass those that
 * they were encoded with. */
int linerate_cuda_decode(linerate_cuda_codec *codec, linerate_cuda_workspace *workspace,
                         const linerate_cuda_params *params, const linerate_cuda_job *jobs, size_t count,
                         void *stream);

/* Encodes 16-bit samples as version 1 chunks, with the bytes that the HDF5 filter writes. Returns
 * LINERATE_CUDA_BAD_ARGUMENT for parameters that lose data: m = 1, or a first coefficient other
 * than 1 and -1. */
int linerate_cuda_encode(linerate_cuda_codec *codec, linerate_cuda_workspace *workspace,
                         const linerate_cuda_params *params, const linerate_cuda_job *jobs, size_t count,
                         void *stream);

/* Decodes version 2 streams to samples of type `element`. min_segment: the fewest samples per
 * segment of any stream; 0 counts as 1. The outcome of a stream with more segments than its
 * capacity in samples has at this length is LINERATE_CUDA_LIMIT. Encoders of this project write at
 * least 1024 samples per segment, unless an option sets fewer. The outcome of a stream with
 * channels is LINERATE_CUDA_UNSUPPORTED. */
int linerate_cuda_decode_streams(linerate_cuda_codec *codec, linerate_cuda_workspace *workspace, int element,
                                 uint32_t min_segment, const linerate_cuda_job *jobs, size_t count, void *stream);

/* Encodes samples of type `element` as version 2 streams without channels. segment: samples per
 * segment, 1 to 65536, or 0 to choose by the length of a row. row: samples per row, which the
 * streams store, or 0 if the samples have no rows. */
int linerate_cuda_encode_streams(linerate_cuda_codec *codec, linerate_cuda_workspace *workspace, int element,
                                 uint32_t segment, uint32_t row, const linerate_cuda_job *jobs, size_t count,
                                 void *stream);

/* Waits for the last call on a workspace and copies the outcomes of its first `count` jobs to
 * `out`. Returns LINERATE_CUDA_BAD_ARGUMENT if that call had fewer jobs, or failed: then it has no
 * outcomes. */
int linerate_cuda_outcomes(linerate_cuda_workspace *workspace, linerate_cuda_outcome *out, size_t count);

/* Stores the device address of the results of the last call on a workspace, for later work on the
 * stream of that call. Each job has 16 bytes: a 64-bit status, all ones on success, and a 64-bit
 * size, which on success is that of linerate_cuda_outcome. */
int linerate_cuda_device_results(linerate_cuda_workspace *workspace, uint64_t *out);

/* Store the largest size in bytes of `sample_count` encoded samples: as a version 1 chunk with
 * `params`, and as a version 2 stream that linerate_cuda_encode_streams() writes with the same
 * arguments. */
int linerate_cuda_bound(const linerate_cuda_params *params, uint64_t sample_count, uint64_t *out);
int linerate_cuda_stream_bound(int element, uint32_t segment, uint32_t row, uint64_t sample_count, uint64_t *out);

#ifdef __cplusplus
}
#endif

#endif
