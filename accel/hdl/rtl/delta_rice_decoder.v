// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Delta-Rice decoder: the payload of a segment in, samples out, at most one per clock.
//
// Codes are taken from the top of `buffer`, which has 64 bits: `fill` bits of the stream, then
// zeros. One clock counts leading zeros, shifts the code out, and appends the next word. A word
// enters while `fill` is below 32, so a code waits only if it and the one before it together have
// more than 32 bits:
//
//   codes of up to 16 bits, as wherever data compresses           one sample per clock
//   only escapes of 25 bits                                       16 samples in 25 clocks
//   per segment                                                   2 clocks more
//
// Damage. The checks are those of the crate's decoder: at most eight zeros before a one, all codes
// within the payload, and less than a word of zeros after them. The wrong sample, or the last one,
// comes with `m_error` and `m_last`; the rest of the payload is skipped. Do not use the samples of
// a damaged segment. The format has no checksum, so damage may also go unnoticed.

`default_nettype none

module delta_rice_decoder #(
    parameter K = 3,                // Rice parameter log2(m), 0 to 15
    parameter K_INPUT = 0,          // 1: `s_k` is the Rice parameter, not K
    parameter DELTA = 1,            // 1: taps [1, -1]; 0: taps [1]
    parameter SAMPLES_WIDTH = 24    // bits of s_samples
) (
    input  wire                     clk,
    input  wire                     rst,        // synchronous, active high
    // Input: words of payloads.
    input  wire                     s_valid,
    output wire                     s_ready,
    input  wire [31:0]              s_data,
    input  wire                     s_last,     // the last word of a segment
    input  wire                     s_error,    // with s_last: the segment is damaged whatever it holds
    input  wire [SAMPLES_WIDTH-1:0] s_samples,  // with the first word of a segment: its samples, at least 1
    input  wire [3:0]               s_k,        // with the first word of a segment
    // Output: samples.
    output reg                      m_valid,
    input  wire                     m_ready,
    output reg  [15:0]              m_data,
    output reg                      m_last,     // the last sample of a segment
    output reg                      m_error,    // with m_last: the segment is damaged
    output wire                     idle        // no segment has begun, and no sample is on its way
);

    // IDLE waits for a segment. RUN decodes. CHECK looks at the bits after the last code. SKIP
    // passes over the words of a damaged segment.
    localparam IDLE = 2'd0, RUN = 2'd1, CHECK = 2'd2, SKIP = 2'd3;
    reg [1:0]               state;
    reg [63:0]              buffer;
    reg [6:0]               fill;
    reg                     all_loaded;         // `buffer` has the end of the payload
    reg                     declared_damaged;
    reg [SAMPLES_WIDTH-1:0] samples_left;
    reg                     final_sample;       // samples_left is 1
    reg [3:0]               segment_k;

    wire [3:0] k = K_INPUT ? segment_k : K[3:0];
    wire       enable = !m_valid || m_ready;

    // The code at the top of `buffer`: its quotient q, its length, and the buffer without the code.
    reg  [3:0] q;                               // 8: an escape; 9: no valid code
    always @*
        casez (buffer[63:55])
            9'b1????????: q = 4'd0;
            9'b01???????: q = 4'd1;
            9'b001??????: q = 4'd2;
            9'b0001?????: q = 4'd3;
            9'b00001????: q = 4'd4;
            9'b000001???: q = 4'd5;
            9'b0000001??: q = 4'd6;
            9'b00000001?: q = 4'd7;
            9'b000000001: q = 4'd8;
            default:      q = 4'd9;
        endcase
    wire [6:0] length = q[3] ? 7'd25 : {4'd0, q[2:0]} + {3'd0, k} + 7'd1;
    wire       is_whole = length <= fill;       // false for an unfinished code, whose missing bits are zero
    wire       is_invalid = q == 4'd9 && fill >= 7'd9;

    wire take = s_valid && s_ready;
    wire decode = state == RUN && is_whole && q != 4'd9 && enable;
    wire fail = state == RUN && enable && (is_invalid || (all_loaded && !is_whole));
    assign s_ready = state == IDLE || state == SKIP || (state == RUN && fill < 7'd32 && !all_loaded);

    // The buffer is first shifted by k + 1, which does not wait for q, and then by q.
    wire [63:0] with_word = buffer | (take ? {s_data, 32'd0} >> fill[4:0] : 64'd0);
    wire [63:0] without_remainder = with_word << ({1'b0, k} + 5'd1);
    wire [63:0] without_code = q[3] ? with_word << 25 : without_remainder << q[2:0];

    wire is_damaged = !all_loaded || declared_damaged || fill >= 7'd32 || buffer[63:32] != 32'd0;

    always @(posedge clk) begin
        case (state)
            IDLE:
                if (take) begin
                    state        <= RUN;
                    buffer       <= {s_data, 32'd0};
                    fill         <= 7'd32;
                    all_loaded   <= s_last;
                    declared_damaged <= s_error;
                    samples_left <= s_samples;
                    final_sample <= s_samples == 1;
                    segment_k    <= s_k;
                end
            RUN: begin
                buffer <= decode ? without_code : with_word;
                fill   <= fill + {1'b0, take, 5'd0} - (decode ? length : 7'd0);
                if (take) begin
                    all_loaded       <= s_last;
                    declared_damaged <= s_error;
                end
                if (decode) begin
                    samples_left <= samples_left - 1'b1;
                    final_sample <= samples_left == 2;
                    if (final_sample)
                        state <= CHECK;
                end else if (fail)
                    state <= all_loaded || (take && s_last) ? IDLE : SKIP;
            end
            CHECK:
                if (enable)
                    state <= all_loaded ? IDLE : SKIP;
            SKIP:
                if (take && s_last)
                    state <= IDLE;
        endcase
        if (rst)
            state <= IDLE;
    end

    // From the code to the sample: remainder, zigzag value, residual, sum.
    reg         code_valid, value_valid, residual_valid;
    reg         code_last, value_last, residual_last;
    reg         code_error, value_error, residual_error;
    reg  [3:0]  code_q;
    reg  [23:0] code_bits;                      // the 24 bits after the first bit of the code
    reg  [3:0]  code_k, value_k;
    reg         value_escape;
    reg  [15:0] value_z;                        // the zigzag value, if the code is an escape
    reg  [17:0] value_bits;                     // q and what follows the leading one
    reg  [15:0] residual;
    reg  [15:0] sum;                            // of the segment's residuals so far: the previous sample
    wire [23:0] remainder_bits = code_bits << code_q[2:0];
    wire [17:0] value_shifted = value_bits >> (4'd15 - value_k);
    wire [15:0] z = value_escape ? value_z : value_shifted[15:0];
    wire [15:0] sample = DELTA ? sum + residual : residual;

    assign idle = state == IDLE && !code_valid && !value_valid && !residual_valid && !m_valid;

    always @(posedge clk) begin
        if (enable) begin
            code_last  <= fail || final_sample;
            code_error <= fail;
            code_q     <= q;
            code_bits  <= buffer[62:39];
            code_k     <= k;

            value_last   <= code_last;
            value_error  <= code_error || (state == CHECK && is_damaged);
            value_escape <= code_q[3];
            value_z      <= code_bits[15:0];
            value_bits   <= {code_q[2:0], remainder_bits[23:9]};
            value_k      <= code_k;

            residual_last  <= value_last;
            residual_error <= value_error;
            residual       <= {1'b0, z[15:1]} ^ {16{z[0]}};

            m_data  <= sample;
            m_last  <= residual_last;
            m_error <= residual_error;
            if (residual_valid)
                sum <= residual_last ? 16'd0 : sample;
        end
        if (rst) begin
            {code_valid, value_valid, residual_valid, m_valid} <= 4'd0;
            sum <= 16'd0;
        end else if (enable)
            {code_valid, value_valid, residual_valid, m_valid}
                <= {decode || fail, code_valid, value_valid, residual_valid};
    end

endmodule

`default_nettype wire
