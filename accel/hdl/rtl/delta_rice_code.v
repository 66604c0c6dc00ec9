// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The Rice code of a prediction residual (Rice 1971; Golomb 1966, for m = 2^k), with an escape.
//
// With the zigzag value z (0, -1, 1, -2, ... become 0, 1, 2, 3, ...) and q = z >> k the code is
//
//   q <= 7:  q zeros, a one, the low k bits of z             q + 1 + k bits
//   q >= 8:  eight zeros, a one, all 16 bits of z            25 bits
//
// The output is the code without its leading zeros, in the low bits of `m_value`, and its length
// with them. Three clocks from `s_residual` to `m_value`: zigzag, quotient, code.

`default_nettype none

module delta_rice_code (
    input  wire        clk,
    input  wire        enable,      // low: everything keeps its value
    input  wire [15:0] s_residual,
    input  wire [3:0]  s_k,
    output reg  [16:0] m_value,
    output reg  [4:0]  m_length     // 1 to 25
);

    // The zigzag value of the residual.
    reg [15:0] z;
    reg [3:0]  z_k;

    // Quotient: `below` has ones below bit k, so it keeps the remainder. Ones in bit k + 3 and
    // above mean that q is 8 or more.
    wire [15:0] below    = ~(16'hffff << z_k);
    wire [18:0] below_q8 = ~(19'h7fff8 << z_k);
    wire [15:0] shifted  = z >> z_k;
    reg         escape;
    reg  [2:0]  q;
    reg  [15:0] q_z;
    reg  [15:0] q_remainder;        // low k bits, preceded by a one
    reg  [4:0]  q_k1;               // k + 1

    always @(posedge clk)
        if (enable) begin
            z   <= {s_residual[14:0], 1'b0} ^ {16{s_residual[15]}};
            z_k <= s_k;

            escape      <= |(z & ~below_q8[15:0]);
            q           <= shifted[2:0];
            q_z         <= z;
            q_remainder <= (z & below) | (16'd1 << z_k);
            q_k1        <= {1'b0, z_k} + 5'd1;

            m_value  <= escape ? {1'b1, q_z} : {1'b0, q_remainder};
            m_length <= escape ? 5'd25 : q_k1 + {2'd0, q};
        end

`ifdef FORMAL
    // The contents of the stages before the first sample do not matter. This is a start for
    // induction.
    initial begin
        q_k1 = 5'd1;
        m_length = 5'd1;
    end
    always @* begin
        assert (q_k1 >= 5'd1 && q_k1 <= 5'd16);
        assert (m_length >= 5'd1 && m_length <= 5'd25);
    end
`endif

endmodule

`default_nettype wire
