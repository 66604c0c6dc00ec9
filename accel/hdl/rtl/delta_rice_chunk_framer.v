// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Makes chunks of HDF5 filter 32025 from encoded segments. A chunk is an array of 32-bit words:
//
//   N, the samples of the chunk; then for each segment L, its number of words, and these L words.
//
// L precedes the words that it counts, so a segment is held in a FIFO until its end is known. The
// FIFO of 2^ADDRESS_WIDTH words must hold the largest segment, which the module that uses it
// ensures (delta_rice_chunk_encoder_axis.v). The next segment enters while one leaves.

`default_nettype none

module delta_rice_chunk_framer #(
    parameter ADDRESS_WIDTH = 13,       // log2 of the words that the FIFO holds
    parameter COUNT_WIDTH = ADDRESS_WIDTH + 1
) (
    input  wire                   clk,
    input  wire                   rst,              // synchronous, active high
    // These inputs must be constant from reset to reset, and not 0.
    input  wire [31:0]            chunk_samples,    // N
    input  wire [31:0]            segment_samples,  // samples of each segment but the last
    // Input: words of segments.
    input  wire                   s_valid,
    output wire                   s_ready,
    input  wire [31:0]            s_data,
    input  wire                   s_last,           // the last word of a segment
    input  wire [COUNT_WIDTH-1:0] s_count,          // with s_last: words of the segment
    // Output: words of chunks.
    output wire                   m_valid,
    input  wire                   m_ready,
    output wire [31:0]            m_data,
    output wire                   m_last            // the last word of a chunk
);

    wire                   payload_valid;
    wire                   payload_ready;
    wire [31:0]            payload;
    wire                   length_valid;
    wire                   length_ready;
    wire [COUNT_WIDTH-1:0] length;
    wire                   payload_free;
    wire                   length_free;

    // A segment's last word enters both FIFOs in the same clock.
    assign s_ready = payload_free && (length_free || !s_last);
    delta_rice_fifo #(.WIDTH(32), .ADDRESS_WIDTH(ADDRESS_WIDTH)) payload_fifo (
        .clk(clk), .rst(rst),
        .s_valid(s_valid && s_ready), .s_ready(payload_free), .s_data(s_data),
        .m_valid(payload_valid), .m_ready(payload_ready), .m_data(payload));
    delta_rice_fifo #(.WIDTH(COUNT_WIDTH), .ADDRESS_WIDTH(4)) length_fifo (
        .clk(clk), .rst(rst),
        .s_valid(s_valid && s_ready && s_last), .s_ready(length_free), .s_data(s_count),
        .m_valid(length_valid), .m_ready(length_ready), .m_data(length));

    localparam SAMPLES = 2'd0, LENGTH = 2'd1, PAYLOAD = 2'd2;
    reg [1:0]             state;
    reg [31:0]            samples_left;     // samples of the chunk, from this segment on
    reg                   last_segment;
    reg [COUNT_WIDTH-1:0] words_left;       // words of the segment that have not gone out

    wire last_word = words_left == {{(COUNT_WIDTH - 1){1'b0}}, 1'b1};

    // A chunk begins when its first segment is complete.
    assign m_valid = state == PAYLOAD ? payload_valid : length_valid;
    assign m_data  = state == PAYLOAD ? payload
                   : state == LENGTH ? {{(32 - COUNT_WIDTH){1'b0}}, length} : chunk_samples;
    assign m_last  = state == PAYLOAD && last_word && last_segment;
    assign length_ready  = state == LENGTH && m_ready;
    assign payload_ready = state == PAYLOAD && m_ready;

    always @(posedge clk) begin
        if (m_valid && m_ready)
            case (state)
                SAMPLES: begin
                    state        <= LENGTH;
                    samples_left <= chunk_samples;
                end
                LENGTH: begin
                    state        <= PAYLOAD;
                    words_left   <= length;
                    last_segment <= samples_left <= segment_samples;
                end
                default: begin
                    words_left <= words_left - 1'b1;
                    if (last_word) begin
                        state        <= last_segment ? SAMPLES : LENGTH;
                        samples_left <= samples_left - segment_samples;
                    end
                end
            endcase
        if (rst)
            state <= SAMPLES;
    end

endmodule

`default_nettype wire
