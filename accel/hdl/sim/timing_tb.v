// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Prints the inputs and outputs of the encoder in each clock, for the timing table of
// docs/waveforms/fpga.md: a segment of two samples, one of three escapes, and one of one sample,
// without a pause.

`timescale 1ns / 1ps

module timing_tb;
    reg clk = 0;
    always #2 clk = !clk;

    reg                rst = 1;
    reg  signed [15:0] samples [0:5];
    reg  [5:0]         ends = 6'b110010;        // bit i: sample i is the last of its segment
    integer            i, clock;
    wire               is_sample = i < 6;
    wire               s_ready, m_valid, m_last;
    wire [31:0]        m_data;
    wire [19:0]        m_count;
    delta_rice_encoder #(.K(3)) encoder (
        .clk(clk), .rst(rst),
        .s_valid(is_sample), .s_ready(s_ready), .s_data(samples[i % 6]), .s_last(ends[i % 6]), .s_k(4'd0),
        .m_valid(m_valid), .m_ready(1'b1), .m_data(m_data), .m_last(m_last), .m_count(m_count));

    initial begin
        {samples[0], samples[1], samples[2]} = {16'd5, -16'd5, 16'd1000};
        {samples[3], samples[4], samples[5]} = {-16'd1000, 16'd1000, 16'd0};
        i = 6;
        repeat (3) @(negedge clk);
        rst = 0;
        repeat (3) @(negedge clk);
        i = 0;
        $display("clock  s_data  s_last  m_data    m_last  m_count");
        for (clock = 0; clock < 17; clock = clock + 1) begin
            #1;
            $write("%5d", clock);
            if (is_sample && s_ready)
                $write("  %6d  %6d", samples[i], ends[i]);
            else if (m_valid)
                $write("%16s", "");
            if (m_valid)
                $write("  %h  %6d", m_data, m_last);
            if (m_valid && m_last)
                $write("  %7d", m_count);
            $write("\n");
            @(negedge clk) if (is_sample && s_ready) i = i + 1;
        end
        $finish;
    end
endmodule
