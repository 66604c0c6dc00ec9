// SPDX-License-Identifier: MIT OR Apache-2.0
//
// FIFO of 2^ADDRESS_WIDTH entries in a RAM with a read latency of one clock, and one more entry in
// the output register.

`default_nettype none

module delta_rice_fifo #(
    parameter WIDTH = 32,
    parameter ADDRESS_WIDTH = 9
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

    reg [WIDTH-1:0]       memory [0:(1 << ADDRESS_WIDTH)-1];
    // Pointers have one bit more than an address. Equal pointers mean empty; pointers that differ
    // only in the highest bit mean full.
    reg [ADDRESS_WIDTH:0] write_pointer;
    reg [ADDRESS_WIDTH:0] read_pointer;

    wire empty = write_pointer == read_pointer;
    wire full  = write_pointer == {~read_pointer[ADDRESS_WIDTH], read_pointer[ADDRESS_WIDTH-1:0]};
    wire push  = s_valid && !full;
    wire fetch = !empty && (!m_valid || m_ready);

    assign s_ready = !full;

    always @(posedge clk) begin
        if (push)
            memory[write_pointer[ADDRESS_WIDTH-1:0]] <= s_data;
        if (fetch)
            m_data <= memory[read_pointer[ADDRESS_WIDTH-1:0]];
        if (rst) begin
            write_pointer <= {(ADDRESS_WIDTH + 1){1'b0}};
            read_pointer  <= {(ADDRESS_WIDTH + 1){1'b0}};
            m_valid       <= 1'b0;
        end else begin
            if (push)
                write_pointer <= write_pointer + 1'b1;
            if (fetch)
                read_pointer <= read_pointer + 1'b1;
            if (fetch)
                m_valid <= 1'b1;
            else if (m_ready)
                m_valid <= 1'b0;
        end
    end

endmodule

`default_nettype wire
