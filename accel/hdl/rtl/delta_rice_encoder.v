// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Delta-Rice encoder for one channel. It always takes one 16-bit sample per clock while `m_ready`
// is high. The words of a segment are exactly its payload in a chunk of HDF5 filter 32025.
//
// delta_rice_encoder_multi.v describes how it works. Latency: ten clocks from the sample that
// completes a word to the word; one more for the unfinished word at the end of a segment.

`default_nettype none

module delta_rice_encoder #(
    parameter K = 3,                // Rice parameter log2(m), 0 to 15
    parameter K_INPUT = 0,          // 1: `s_k` is the Rice parameter, not K
    parameter DELTA = 1,            // 1: taps [1, -1]; 0: taps [1]
    parameter COUNT_WIDTH = 20      // bits of m_count: segments of up to 2^COUNT_WIDTH - 1 words
) (
    input  wire                   clk,
    input  wire                   rst,      // synchronous, active high, one clock or more
    // Input: samples.
    input  wire                   s_valid,
    output wire                   s_ready,
    input  wire [15:0]            s_data,
    input  wire                   s_last,   // the last sample of a segment
    input  wire [3:0]             s_k,      // the same for all samples of a segment; unused without K_INPUT
    // Output: words of payloads.
    output wire                   m_valid,
    input  wire                   m_ready,
    output wire [31:0]            m_data,   // the first bit of the stream is bit 31
    output wire                   m_last,   // the last word of a segment
    output wire [COUNT_WIDTH-1:0] m_count   // with m_last: words of the segment
);

    wire unused_channel;
    delta_rice_encoder_multi #(
        .K(K), .K_INPUT(K_INPUT), .DELTA(DELTA), .COUNT_WIDTH(COUNT_WIDTH), .CHANNELS(1), .CHANNEL_WIDTH(1)
    ) encoder (
        .clk(clk), .rst(rst),
        .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_last(s_last), .s_k(s_k), .s_channel(1'b0),
        .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_last(m_last), .m_count(m_count),
        .m_channel(unused_channel));

endmodule

`default_nettype wire
