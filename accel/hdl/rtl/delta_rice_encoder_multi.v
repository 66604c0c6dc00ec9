// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Delta-Rice encoder for interleaved channels: one 16-bit sample per clock, 32-bit words out.
//
// The state of a channel is its previous sample, the number of bits in its unfinished word, and
// that word. With one channel it is in registers, otherwise in RAMs. Samples of the channels may
// come in any order; segments of different channels need not begin or end together.
//
// Each word of a segment comes out once it is full, the last one padded with zeros, with `m_last`
// and the number of words of the segment. Words of different channels are interleaved; `m_channel`
// tells them apart.
//
// Rate. Codes have at most 25 bits, so a sample completes at most one word. The last sample of a
// segment may leave another, unfinished word, which waits in `tail` and goes out in the next clock.
// Meanwhile the next sample enters. With one channel it begins a segment, so it cannot complete a
// word, and the encoder never waits for itself. With several channels it may belong to another
// channel; then the encoder waits one clock, at most once per segment.
//
// Stages, of one clock each: input, difference, code (3), place, align (3), output. A word appears
// ten clocks after the sample that completes it, if `m_ready` is high.

`default_nettype none

module delta_rice_encoder_multi #(
    parameter K = 3,                // Rice parameter log2(m), 0 to 15
    parameter K_INPUT = 0,          // 1: `s_k` is the Rice parameter, not K
    parameter DELTA = 1,            // 1: taps [1, -1]; 0: taps [1]
    parameter COUNT_WIDTH = 20,     // bits of m_count: segments of up to 2^COUNT_WIDTH - 1 words
    parameter CHANNELS = 1,
    parameter CHANNEL_WIDTH = 1     // bits of a channel's number: at least log2(CHANNELS), and at least 1
) (
    input  wire                     clk,
    input  wire                     rst,        // synchronous, active high; clears the state within CHANNELS clocks
    // Input: samples.
    input  wire                     s_valid,
    output wire                     s_ready,
    input  wire [15:0]              s_data,
    input  wire                     s_last,     // the last sample of a segment
    input  wire [3:0]               s_k,        // the same for all samples of a segment
    input  wire [CHANNEL_WIDTH-1:0] s_channel,  // below CHANNELS
    // Output: words of payloads.
    output reg                      m_valid,
    input  wire                     m_ready,
    output reg  [31:0]              m_data,     // the first bit of the stream is bit 31
    output reg                      m_last,     // the last word of a segment
    output reg  [COUNT_WIDTH-1:0]   m_count,    // with m_last: words of the segment
    output reg  [CHANNEL_WIDTH-1:0] m_channel
);

    generate
        if (K < 0 || K > 15)
            K_must_be_0_to_15 error();
        if (CHANNELS > (1 << CHANNEL_WIDTH))
            CHANNEL_WIDTH_is_too_small error();
    endgenerate

    // Names of stages, as indices of the bits that accompany a sample.
    localparam INPUT = 0, DIFFERENCE = 1, QUOTIENT = 3, CODE = 4, FINE = 7, ALIGNED = 8;

    // The whole pipeline moves, unless the output holds a word that is not taken, or the tail of
    // another channel's segment and a full word are due in the same clock.
    reg  tail_valid;
    wire output_free = !m_valid || m_ready;
    wire collision;
    wire enable = output_free && !collision;

    // After a reset, the state of one channel is cleared in each clock.
    reg                     clearing;
    reg [CHANNEL_WIDTH-1:0] clear_channel;
    /* verilator lint_off WIDTH */
    wire                    clear_done = clear_channel == CHANNELS - 1;
    /* verilator lint_on WIDTH */
    always @(posedge clk)
        if (rst) begin
            clearing      <= 1'b1;
            clear_channel <= {CHANNEL_WIDTH{1'b0}};
        end else if (clearing) begin
            clearing      <= !clear_done;
            clear_channel <= clear_channel + 1'b1;
        end
    wire state_enable = enable || clearing;

    assign s_ready = enable && !clearing;

    // Signals that accompany a sample through the stages.
    reg  [ALIGNED:INPUT]     valid;
    reg  [ALIGNED:INPUT]     last;
    reg  [CHANNEL_WIDTH-1:0] channel [INPUT:ALIGNED];
    integer i;
    always @(posedge clk) begin
        if (rst)
            valid <= {(ALIGNED + 1){1'b0}};
        else if (enable)
            valid <= {valid[ALIGNED-1:INPUT], s_valid && s_ready};
        if (enable) begin
            last           <= {last[ALIGNED-1:INPUT], s_last};
            channel[INPUT] <= s_channel;
            for (i = DIFFERENCE; i <= ALIGNED; i = i + 1)
                channel[i] <= channel[i-1];
        end
    end

    // Input and difference. The previous sample is 0 at the beginning of a segment.
    wire [3:0]  k = K_INPUT ? s_k : K[3:0];
    wire [15:0] previous;
    reg  [15:0] sample;
    reg  [3:0]  sample_k;
    reg  [15:0] residual;
    reg  [3:0]  residual_k;
    always @(posedge clk)
        if (enable) begin
            sample     <= s_data;
            sample_k   <= k;
            residual   <= DELTA ? sample - previous : sample;
            residual_k <= sample_k;
        end
    delta_rice_state #(.WIDTH(16), .CHANNELS(CHANNELS), .CHANNEL_WIDTH(CHANNEL_WIDTH)) previous_sample (
        .clk(clk), .enable(state_enable),
        .read_channel(s_channel), .state(previous),
        .write(valid[INPUT] || clearing), .write_channel(clearing ? clear_channel : channel[INPUT]),
        .next_state(last[INPUT] || clearing ? 16'd0 : sample));

    // Code: the Rice code of the residual.
    wire [16:0] code_value;
    wire [4:0]  code_length;
    delta_rice_code code (
        .clk(clk), .enable(enable), .s_residual(residual), .s_k(residual_k),
        .m_value(code_value), .m_length(code_length));

    // Place: where the code begins and ends in the words of its channel.
    wire [4:0]  fill;               // bits in the unfinished word
    wire [5:0]  code_end = {1'b0, fill} + {1'b0, code_length};
    reg  [16:0] place_value;
    reg  [4:0]  place_start;
    reg  [5:0]  place_end;
    always @(posedge clk)
        if (enable) begin
            place_value <= code_value;
            place_start <= fill;
            place_end   <= code_end;
        end
    delta_rice_state #(.WIDTH(5), .CHANNELS(CHANNELS), .CHANNEL_WIDTH(CHANNEL_WIDTH)) fill_state (
        .clk(clk), .enable(state_enable),
        .read_channel(channel[QUOTIENT]), .state(fill),
        .write(valid[CODE] || clearing), .write_channel(clearing ? clear_channel : channel[CODE]),
        .next_state(last[CODE] || clearing ? 5'd0 : code_end[4:0]));

    // Align: moves the code to its place, in one word or two.
    wire [31:0] current;
    wire [31:0] next;
    delta_rice_align align (
        .clk(clk), .enable(enable),
        .s_value(place_value), .s_start(place_start), .s_end(place_end[4:0]),
        .m_current(current), .m_next(next));
    reg [2:0] completes_from_place;     // the code ends in the next word, or exactly with this one
    reg [2:0] exact_from_place;         // the code ends exactly with a word
    wire      completes = completes_from_place[2];
    wire      exact = exact_from_place[2];
    always @(posedge clk)
        if (enable) begin
            completes_from_place <= {completes_from_place[1:0], place_end[5]};
            exact_from_place     <= {exact_from_place[1:0], place_end[4:0] == 5'd0};
        end

    // Output: the unfinished word of the channel, and the number of words before it.
    wire [31:0]            unfinished;
    wire [COUNT_WIDTH-1:0] count;
    wire [31:0]            word = unfinished | current;
    wire [31:0]            rest = completes ? next : word;
    wire [COUNT_WIDTH-1:0] count_with_word = count + 1'b1;
    wire                   emits_word = valid[ALIGNED] && completes;
    wire                   leaves_tail = valid[ALIGNED] && last[ALIGNED] && !exact;
    assign collision = CHANNELS > 1 && tail_valid && emits_word;
    delta_rice_state #(.WIDTH(32 + COUNT_WIDTH), .CHANNELS(CHANNELS), .CHANNEL_WIDTH(CHANNEL_WIDTH)) word_state (
        .clk(clk), .enable(state_enable),
        .read_channel(channel[FINE]), .state({unfinished, count}),
        .write(valid[ALIGNED] || clearing), .write_channel(clearing ? clear_channel : channel[ALIGNED]),
        .next_state(last[ALIGNED] || clearing ? {(32 + COUNT_WIDTH){1'b0}}
                    : {rest, completes ? count_with_word : count}));

    // The tail of a segment goes out first.
    reg [31:0]              tail;
    reg [COUNT_WIDTH-1:0]   tail_count;
    reg [CHANNEL_WIDTH-1:0] tail_channel;
    always @(posedge clk) begin
        if (rst) begin
            m_valid    <= 1'b0;
            tail_valid <= 1'b0;
        end else if (output_free) begin
            m_valid    <= tail_valid || emits_word;
            tail_valid <= leaves_tail && enable;
        end
        if (output_free) begin
            m_data    <= tail_valid ? tail : word;
            m_last    <= tail_valid || (last[ALIGNED] && exact);
            m_count   <= tail_valid ? tail_count : count_with_word;
            m_channel <= tail_valid ? tail_channel : channel[ALIGNED];
            tail         <= rest;
            tail_count   <= completes ? count_with_word + 1'b1 : count_with_word;
            tail_channel <= channel[ALIGNED];
        end
    end

`ifdef FORMAL
    `include "encoder_invariants.vh"
`endif

endmodule

`default_nettype wire
