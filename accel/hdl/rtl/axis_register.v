// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Register between two AXI4-Stream interfaces (a skid buffer): no combinational path between the
// sides, and one transfer per clock.

`default_nettype none

module axis_register #(
    parameter WIDTH = 32
) (
    input  wire             clk,
    input  wire             rst,        // synchronous, active high
    input  wire             s_valid,
    output wire             s_ready,
    input  wire [WIDTH-1:0] s_data,
    output reg              m_valid,
    input  wire             m_ready,
    output reg  [WIDTH-1:0] m_data
);

    // The word that came in the first clock in which the output was not taken, and waits for it.
    reg             skid_valid;
    reg [WIDTH-1:0] skid_data;

    assign s_ready = !skid_valid;

    always @(posedge clk) begin
        if (rst) begin
            m_valid    <= 1'b0;
            skid_valid <= 1'b0;
        end else if (!m_valid || m_ready) begin
            m_valid    <= skid_valid || s_valid;
            skid_valid <= 1'b0;
        end else if (s_valid)
            skid_valid <= 1'b1;
        if (!m_valid || m_ready)
            m_data <= skid_valid ? skid_data : s_data;
        if (s_ready)
            skid_data <= s_data;
    end

endmodule

`default_nettype wire
