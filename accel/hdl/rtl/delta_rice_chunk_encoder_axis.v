// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Samples in, chunks of HDF5 filter 32025 out, with AXI4-Stream interfaces.
//
// Every `chunk_samples` samples become one packet of 32-bit words, ended by TLAST: the bytes that
// H5Dwrite_chunk takes, for a dataset whose filter has the values (2^k, segment_samples), or (2^k,
// segment_samples, 1, 1) for taps [1]. TLAST of samples is not needed, because segments are
// counted.
//
// A segment is held until it is encoded, so it must fit: it has at most MAX_SEGMENT_SAMPLES
// samples. Longer segments, and segments or chunks of 0 samples, are refused: `configuration_error`
// is high and no sample is taken.
//
// Rate: one sample per clock while m_axis_tready is high, even if all codes have 25 bits, for
// segments of at least 10 samples.

`default_nettype none

module delta_rice_chunk_encoder_axis #(
    parameter K = 3,                // Rice parameter log2(m), 0 to 15
    parameter K_INPUT = 0,          // 1: the Rice parameter is the input `rice_parameter`, not K
    parameter DELTA = 1,            // 1: taps [1, -1]; 0: taps [1]
    parameter ADDRESS_WIDTH = 13,   // log2 of the words that the segment buffer holds, up to 20
    parameter MAX_SEGMENT_SAMPLES = (1 << ADDRESS_WIDTH) * 32 / 25  // a result for the instantiating design; do not set it
) (
    input  wire        aclk,
    input  wire        aresetn,             // synchronous, active low
    // These inputs must be constant from reset to reset.
    input  wire [31:0] chunk_samples,       // samples per chunk, N
    input  wire [31:0] segment_samples,     // samples per segment; the last segment of a chunk has the rest
    input  wire [3:0]  rice_parameter,      // unused without K_INPUT
    output reg         configuration_error,
    input  wire        s_axis_tvalid,
    output wire        s_axis_tready,
    input  wire [15:0] s_axis_tdata,
    output wire        m_axis_tvalid,
    input  wire        m_axis_tready,
    output wire [31:0] m_axis_tdata,
    output wire        m_axis_tlast         // the last word of a chunk
);

    localparam COUNT_WIDTH = ADDRESS_WIDTH + 1;

    // The configuration is checked in every clock, and must not change between resets.
    reg running;
    always @(posedge aclk) begin
        configuration_error <= chunk_samples == 32'd0 || segment_samples == 32'd0
                               || segment_samples > MAX_SEGMENT_SAMPLES;
        running <= aresetn && !configuration_error;
    end

    // Where segments and chunks end. The counts of remaining samples exclude the current one.
    reg [31:0]  chunk_left;
    reg [31:0]  segment_left;
    wire        chunk_end = chunk_left == 32'd0;
    wire        segment_end = segment_left == 32'd0 || chunk_end;
    wire        encoder_ready;
    wire        take = s_axis_tvalid && s_axis_tready;
    assign s_axis_tready = encoder_ready && running;
    always @(posedge aclk)
        if (!running) begin
            chunk_left   <= chunk_samples - 32'd1;
            segment_left <= segment_samples - 32'd1;
        end else if (take) begin
            chunk_left   <= chunk_end ? chunk_samples - 32'd1 : chunk_left - 32'd1;
            segment_left <= segment_end ? segment_samples - 32'd1 : segment_left - 32'd1;
        end

    wire                   valid;
    wire                   ready;
    wire [31:0]            data;
    wire                   last;
    wire [COUNT_WIDTH-1:0] count;
    delta_rice_encoder #(.K(K), .K_INPUT(K_INPUT), .DELTA(DELTA), .COUNT_WIDTH(COUNT_WIDTH)) encoder (
        .clk(aclk), .rst(!aresetn),
        .s_valid(s_axis_tvalid && running), .s_ready(encoder_ready), .s_data(s_axis_tdata), .s_last(segment_end),
        .s_k(rice_parameter),
        .m_valid(valid), .m_ready(ready), .m_data(data), .m_last(last), .m_count(count));

    wire        framed_valid;
    wire        framed_ready;
    wire [31:0] framed_data;
    wire        framed_last;
    delta_rice_chunk_framer #(.ADDRESS_WIDTH(ADDRESS_WIDTH), .COUNT_WIDTH(COUNT_WIDTH)) framer (
        .clk(aclk), .rst(!aresetn), .chunk_samples(chunk_samples), .segment_samples(segment_samples),
        .s_valid(valid), .s_ready(ready), .s_data(data), .s_last(last), .s_count(count),
        .m_valid(framed_valid), .m_ready(framed_ready), .m_data(framed_data), .m_last(framed_last));

    axis_register #(.WIDTH(33)) output_register (
        .clk(aclk), .rst(!aresetn),
        .s_valid(framed_valid), .s_ready(framed_ready), .s_data({framed_last, framed_data}),
        .m_valid(m_axis_tvalid), .m_ready(m_axis_tready), .m_data({m_axis_tlast, m_axis_tdata}));

endmodule

`default_nettype wire
