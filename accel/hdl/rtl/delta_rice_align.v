// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Moves a code to its place in the stream of 32-bit words, and divides it at the end of a word.
//
// A code of at most 25 bits goes to the bits [start, end) of the stream, counted from the highest
// bit of the current word. Its leading zeros need not be written, so rotating the value right by
// end modulo 32 puts each bit in its place, in the current word or in the next. The bits from
// `start` down belong to the current word, the others to the next word. The code is shorter than a
// word, so no place is used twice.
//
// Three clocks from `s_value` to `m_current` and `m_next`: two for the rotation, one for the mask.

`default_nettype none

module delta_rice_align (
    input  wire        clk,
    input  wire        enable,      // low: everything keeps its value
    input  wire [16:0] s_value,
    input  wire [4:0]  s_start,
    input  wire [4:0]  s_end,       // modulo 32
    output reg  [31:0] m_current,
    output reg  [31:0] m_next
);

    wire [31:0] s_word = {15'd0, s_value};
    reg  [31:0] coarse;             // rotated by whole bytes
    reg  [2:0]  coarse_end;
    reg  [4:0]  coarse_start;
    reg  [31:0] fine;
    reg  [31:0] mask;               // ones from bit `start` down

    always @(posedge clk)
        if (enable) begin
            case (s_end[4:3])
                2'd0: coarse <= s_word;
                2'd1: coarse <= {s_word[7:0], s_word[31:8]};
                2'd2: coarse <= {s_word[15:0], s_word[31:16]};
                2'd3: coarse <= {s_word[23:0], s_word[31:24]};
            endcase
            coarse_end   <= s_end[2:0];
            coarse_start <= s_start;

            case (coarse_end)
                3'd0: fine <= coarse;
                3'd1: fine <= {coarse[0], coarse[31:1]};
                3'd2: fine <= {coarse[1:0], coarse[31:2]};
                3'd3: fine <= {coarse[2:0], coarse[31:3]};
                3'd4: fine <= {coarse[3:0], coarse[31:4]};
                3'd5: fine <= {coarse[4:0], coarse[31:5]};
                3'd6: fine <= {coarse[5:0], coarse[31:6]};
                3'd7: fine <= {coarse[6:0], coarse[31:7]};
            endcase
            mask <= 32'hffffffff >> coarse_start;

            m_current <= fine & mask;
            m_next    <= fine & ~mask;
        end

endmodule

`default_nettype wire
