// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Delta-Rice encoder with AXI4-Stream interfaces. A packet of samples, ended by TLAST, is a
// segment. It becomes a packet of 32-bit words, which is the segment's payload. On the last word
// TUSER is the number of words, which a chunk has in front of them.
//
// Byte lane 0 of TDATA is bits 7 to 0, so a little-endian DMA engine writes the words to memory as
// the format has them. No combinational path leads from m_axis_tready to s_axis_tready.

`default_nettype none

module delta_rice_encoder_axis #(
    parameter K = 3,                // Rice parameter log2(m), 0 to 15
    parameter K_INPUT = 0,          // 1: s_axis_tuser is the Rice parameter, not K
    parameter DELTA = 1,            // 1: taps [1, -1]; 0: taps [1]
    parameter COUNT_WIDTH = 20      // bits of m_axis_tuser: segments of up to 2^COUNT_WIDTH - 1 words
) (
    input  wire                   aclk,
    input  wire                   aresetn,          // synchronous, active low
    input  wire                   s_axis_tvalid,
    output wire                   s_axis_tready,
    input  wire [15:0]            s_axis_tdata,
    input  wire                   s_axis_tlast,     // the last sample of a segment
    input  wire [3:0]             s_axis_tuser,     // the same for all samples of a segment; unused without K_INPUT
    output wire                   m_axis_tvalid,
    input  wire                   m_axis_tready,
    output wire [31:0]            m_axis_tdata,
    output wire                   m_axis_tlast,     // the last word of a segment
    output wire [COUNT_WIDTH-1:0] m_axis_tuser      // with m_axis_tlast: words of the segment
);

    wire                   rst = !aresetn;
    wire                   valid;
    wire                   ready;
    wire [31:0]            data;
    wire                   last;
    wire [COUNT_WIDTH-1:0] count;

    delta_rice_encoder #(.K(K), .K_INPUT(K_INPUT), .DELTA(DELTA), .COUNT_WIDTH(COUNT_WIDTH)) encoder (
        .clk(aclk), .rst(rst),
        .s_valid(s_axis_tvalid), .s_ready(s_axis_tready), .s_data(s_axis_tdata), .s_last(s_axis_tlast),
        .s_k(s_axis_tuser),
        .m_valid(valid), .m_ready(ready), .m_data(data), .m_last(last), .m_count(count));

    axis_register #(.WIDTH(33 + COUNT_WIDTH)) output_register (
        .clk(aclk), .rst(rst),
        .s_valid(valid), .s_ready(ready), .s_data({count, last, data}),
        .m_valid(m_axis_tvalid), .m_ready(m_axis_tready),
        .m_data({m_axis_tuser, m_axis_tlast, m_axis_tdata}));

endmodule

`default_nettype wire
