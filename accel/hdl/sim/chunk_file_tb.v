// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Encodes a file of 16-bit little-endian samples by simulation, into a file of chunks.
//
//   vvp chunk_file.vvp +samples=FILE +chunks=FILE +n=SAMPLES_PER_CHUNK +segment=SAMPLES_PER_SEGMENT +k=K
//
// Chunks follow each other in the output. Samples at the end that do not fill a chunk are left out.
// Both sides pause at times: the input has no sample to offer, or the output is not ready to take a
// word. With +vcd, all signals also go to chunk_file.vcd.

`timescale 1ns / 1ps

module chunk_file_tb;
    reg clk = 0;
    always #2 clk = !clk;

    reg [1023:0] samples_path, chunks_path;
    reg [31:0]   chunk_samples, segment_samples;
    reg [3:0]    k;
    integer      samples_file, chunks_file, low, high, left, idle;

    reg         aresetn = 0;
    wire        configuration_error;
    reg         s_valid = 0;
    wire        s_ready;
    reg  [15:0] s_data;
    wire        m_valid, m_last;
    reg         m_ready = 0;
    wire [31:0] m_data;
    delta_rice_chunk_encoder_axis #(.K_INPUT(1), .ADDRESS_WIDTH(14)) encoder (
        .aclk(clk), .aresetn(aresetn), .chunk_samples(chunk_samples), .segment_samples(segment_samples), .rice_parameter(k),
        .configuration_error(configuration_error),
        .s_axis_tvalid(s_valid), .s_axis_tready(s_ready), .s_axis_tdata(s_data),
        .m_axis_tvalid(m_valid), .m_axis_tready(m_ready), .m_axis_tdata(m_data), .m_axis_tlast(m_last));

    // Words are written as in the chunk, low byte first.
    always @(posedge clk)
        if (m_valid && m_ready)
            $fwrite(chunks_file, "%c%c%c%c", m_data[7:0], m_data[15:8], m_data[23:16], m_data[31:24]);

    task next_sample;
        begin
            low = $fgetc(samples_file);
            high = $fgetc(samples_file);
            s_data = {high[7:0], low[7:0]};
        end
    endtask

    reg is_taken;
    initial begin
        if (!$value$plusargs("samples=%s", samples_path) || !$value$plusargs("chunks=%s", chunks_path)
            || !$value$plusargs("n=%d", chunk_samples) || !$value$plusargs("segment=%d", segment_samples)
            || !$value$plusargs("k=%d", k)) begin
            $display("usage: +samples=FILE +chunks=FILE +n=SAMPLES_PER_CHUNK +segment=SAMPLES_PER_SEGMENT +k=K");
            $finish;
        end
        samples_file = $fopen(samples_path, "rb");
        chunks_file = $fopen(chunks_path, "wb");
        if ($test$plusargs("vcd")) begin
            $dumpfile("chunk_file.vcd");
            $dumpvars(0, chunk_file_tb);
        end
        repeat (4) @(negedge clk);
        aresetn = 1;
        repeat (4) @(negedge clk);
        if (configuration_error) begin
            $display("failed: the segments do not fit");
            $finish;
        end
        next_sample;
        while (high >= 0) begin
            if (!s_valid)
                s_valid = $random % 8 != 0;
            m_ready = $random % 8 != 0;
            #1 is_taken = s_valid && s_ready;
            @(negedge clk);
            if (is_taken) begin
                s_valid = 0;
                next_sample;
            end
        end
        s_valid = 0;
        m_ready = 1;
        // Waits until the encoder has been silent for 64 clocks: then all of its output has come.
        for (idle = 0; idle < 64; idle = m_valid ? 0 : idle + 1)
            @(negedge clk);
        $fclose(chunks_file);
        $finish;
    end
endmodule
