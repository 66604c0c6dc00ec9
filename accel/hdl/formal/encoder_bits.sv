// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Proves that the encoder loses, changes and invents no bit: a bounded proof for the given K, every
// sample, and every pattern of valid, ready and last.
//
// The solver picks a channel, one of its segments, and a bit of that segment's payload. The
// specification, which follows from the format alone, computes at the input what that bit must be;
// it is compared at the output. The proof also checks the number of words and their end, and that
// everything has come out once the input has been quiet.

module encoder_bits #(
    parameter K = 3,
    parameter DELTA = 1,
    parameter CHANNELS = 1,
    parameter CHANNEL_WIDTH = 1
) (
    input clk,
    input rst,
    input s_valid,
    input [15:0] s_data,
    input s_last,
    input [CHANNEL_WIDTH-1:0] s_channel,
    input m_ready
);
    (* anyconst *) reg [9:0] picked_bit;
    (* anyconst *) reg [4:0] picked_segment;
    (* anyconst *) reg [CHANNEL_WIDTH-1:0] picked_channel;

    wire s_ready, m_valid, m_last;
    wire [31:0] m_data;
    wire [9:0] m_count;
    wire [CHANNEL_WIDTH-1:0] m_channel;
    delta_rice_encoder_multi #(
        .K(K), .DELTA(DELTA), .COUNT_WIDTH(10), .CHANNELS(CHANNELS), .CHANNEL_WIDTH(CHANNEL_WIDTH)
    ) encoder (
        .clk(clk), .rst(rst), .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_last(s_last), .s_k(4'd0),
        .s_channel(s_channel), .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_last(m_last),
        .m_count(m_count), .m_channel(m_channel));

    reg was_reset = 0;
    always @(posedge clk) was_reset <= 1;
    initial assume (rst);
    always @* if (was_reset) assume (!rst);
    always @* assume (s_channel < CHANNELS);

    // The specification of one code: the residual y, its zigzag value z, the quotient q.
    reg  [15:0]        previous = 0;
    wire signed [15:0] y = DELTA ? s_data - previous : s_data;
    wire [15:0]        z = y < 0 ? ~(y + y) : y + y;
    wire [15:0]        q = z >> K;
    wire [9:0]         length = q < 8 ? q + 1 + K : 25;
    wire [24:0]        code = q < 8 ? (25'd1 << K) | (z & ((25'd1 << K) - 1)) : {9'd1, z};

    // Follows the input: which segment and bit the samples have reached, and what the picked bit
    // is.
    reg [4:0] segment = 0;
    reg [9:0] bits = 0;                 // of the current segment
    reg       is_known = 0;             // the picked bit belongs to a code that has been taken
    reg       expected = 0;
    reg       has_ended = 0;            // the picked segment has ended
    reg [9:0] total_bits = 0;
    wire [9:0] from_end = bits + length - 1 - picked_bit;
    always @(posedge clk)
        if (!rst && s_valid && s_ready && s_channel == picked_channel) begin
            previous <= s_last ? 0 : s_data;
            bits <= s_last ? 0 : bits + length;
            if (s_last) segment <= segment + 1;
            if (segment == picked_segment) begin
                if (picked_bit >= bits && picked_bit < bits + length) begin
                    is_known <= 1;
                    expected <= code >> from_end;
                end
                if (s_last) begin
                    has_ended <= 1;
                    total_bits <= bits + length;
                end
            end
        end

    // Follows the output, and compares the picked bit.
    reg [4:0] output_segment = 0;
    reg [9:0] output_word = 0;
    wire is_picked = m_valid && m_channel == picked_channel && output_segment == picked_segment;
    wire [9:0] total_words = (total_bits + 31) >> 5;
    wire got = m_data >> (31 - picked_bit[4:0]);
    always @(posedge clk)
        if (!rst && m_valid && m_ready && m_channel == picked_channel) begin
            output_word <= m_last ? 0 : output_word + 1;
            if (m_last) output_segment <= output_segment + 1;
        end
    always @*
        if (was_reset && !rst && is_picked) begin
            if (output_word == picked_bit[9:5]) begin
                if (is_known) assert (got == expected);
                else begin
                    assert (has_ended);
                    assert (!got);
                end
            end
            if (has_ended) assert (m_last == (output_word + 1 == total_words));
            else assert (!m_last);
            if (m_last) assert (m_count == total_words);
        end

    // Nothing stays in the encoder: after 14 clocks without a sample in which words were taken, all
    // of its output has come.
    reg [4:0] quiet = 0;
    always @(posedge clk) quiet <= rst || s_valid || !m_ready ? 0 : quiet == 31 ? 31 : quiet + 1;
    always @* if (was_reset && !rst && quiet >= 14) assert (!m_valid && output_segment == segment);

    // The solver must find traces with the words below, so that the proofs are not about an encoder
    // that never emits a word.
    always @(posedge clk) begin
        cover (was_reset && m_valid && m_last && m_count == 3);
        cover (was_reset && is_picked && is_known && got && output_word == 1 && picked_segment == 1);
    end
endmodule
