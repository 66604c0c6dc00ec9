// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Self-checking bench of the multi-channel encoder: samples of four channels in random order, in
// segments of random length. Every channel's words, ends and counts must be those of a
// single-channel encoder that gets the same samples. bench.cpp compares single-channel encoders
// with the crate.

`timescale 1ns / 1ps

module multichannel_tb;
    parameter SAMPLES = 20000;
    parameter SEED = 1;
    localparam CHANNELS = 4, QUEUE = 4096;

    reg clk = 0;
    always #5 clk = !clk;

    integer seed = SEED;
    reg        rst = 1;
    reg        s_valid = 0;
    wire       s_ready;
    reg [15:0] s_data;
    reg        s_last;
    reg [1:0]  s_channel;
    wire        m_valid, m_last;
    reg         m_ready = 0;
    wire [31:0] m_data;
    wire [9:0]  m_count;
    wire [1:0]  m_channel;
    delta_rice_encoder_multi #(.K(5), .COUNT_WIDTH(10), .CHANNELS(CHANNELS), .CHANNEL_WIDTH(2)) multi (
        .clk(clk), .rst(rst), .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_last(s_last), .s_k(4'd0),
        .s_channel(s_channel), .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_last(m_last),
        .m_count(m_count), .m_channel(m_channel));

    // One single-channel encoder for each channel. Its words go to `expected`, which has a ring
    // buffer of QUEUE words for each channel.
    wire [CHANNELS-1:0] single_ready, single_valid, single_last;
    wire [31:0] single_data [0:CHANNELS-1];
    wire [9:0]  single_count [0:CHANNELS-1];
    reg  [42:0] expected [0:CHANNELS*QUEUE-1];
    integer     written [0:CHANNELS-1];
    integer     compared [0:CHANNELS-1];
    genvar g;
    generate
        for (g = 0; g < CHANNELS; g = g + 1) begin : g_single
            delta_rice_encoder #(.K(5), .COUNT_WIDTH(10)) single (
                .clk(clk), .rst(rst), .s_valid(s_valid && s_ready && s_channel == g), .s_ready(single_ready[g]),
                .s_data(s_data), .s_last(s_last), .s_k(4'd0), .m_valid(single_valid[g]), .m_ready(1'b1),
                .m_data(single_data[g]), .m_last(single_last[g]), .m_count(single_count[g]));
            initial begin
                written[g] = 0;
                compared[g] = 0;
            end
            always @(posedge clk)
                if (!rst && single_valid[g]) begin
                    expected[g * QUEUE + written[g] % QUEUE] <= {single_count[g], single_last[g], single_data[g]};
                    written[g] <= written[g] + 1;
                end
        end
    endgenerate

    // The words of the multi-channel encoder, in ring buffers like `expected`. Each word is compared
    // once the expected word exists.
    reg  [42:0] got [0:CHANNELS*QUEUE-1];
    integer     received [0:CHANNELS-1];
    integer     c;
    initial for (c = 0; c < CHANNELS; c = c + 1) received[c] = 0;
    always @(posedge clk) begin
        if (!rst && m_valid && m_ready) begin
            got[m_channel * QUEUE + received[m_channel] % QUEUE] <= {m_count, m_last, m_data};
            received[m_channel] <= received[m_channel] + 1;
        end
        for (c = 0; c < CHANNELS; c = c + 1)
            if (compared[c] < written[c] && compared[c] < received[c]) begin : compare
                reg [42:0] a, b;
                a = got[c * QUEUE + compared[c] % QUEUE];
                b = expected[c * QUEUE + compared[c] % QUEUE];
                if (a[32:0] !== b[32:0] || (b[32] && a[42:33] !== b[42:33])) begin
                    $display("failed: channel %0d, word %0d: %h, expected %h", c, compared[c], a, b);
                    $finish;
                end
                compared[c] = compared[c] + 1;
            end
    end

    // The channels come in three orders, with and without pauses: round robin, 40 samples of one
    // channel after 40 of another, and random.
    integer sent = 0, waited = 0, ends = 0, mode, pauses;
    initial begin
        repeat (4) @(posedge clk);
        rst <= 0;
        while (sent < SAMPLES) begin
            mode = (sent / 500) % 3;
            pauses = (sent / 1500) % 2;
            @(negedge clk);
            m_ready = !pauses || $random(seed) & 1;
            if (!s_valid || s_ready_before) begin
                s_valid = !pauses || $random(seed) & 1;
                s_channel = mode == 0 ? s_channel + 1 : mode == 1 ? sent / 40 : $random(seed);
                s_data = (sent / 200) % 2 ? $random(seed) : s_data + $random(seed) % 40;
                s_last = $random(seed) % 16 == 0 || mode == 0 && (sent / 250) % 2;
            end
            #1;
            // Clocks in which a sample waits count, but not those at first, when the RAMs are
            // cleared.
            if (!pauses && s_valid && !s_ready && sent > 0) waited = waited + 1;
            if (s_valid && s_ready) begin
                sent = sent + 1;
                ends = ends + s_last;
                if (sent % 100000 == 0) begin
                    $display("%0d samples so far", sent);
                    $fflush;
                end
            end
            s_ready_before = s_ready;
        end
        @(negedge clk) begin
            s_valid = 0;
            m_ready = 1;
        end
        repeat (40) @(posedge clk);
        for (c = 0; c < CHANNELS; c = c + 1)
            if (received[c] != written[c] || compared[c] != written[c] || written[c] == 0) begin
                $display("failed: channel %0d: %0d words, expected %0d", c, received[c], written[c]);
                $finish;
            end
        if (waited == 0 || waited > ends) begin
            $display("failed: %0d clocks were lost, of at most %0d", waited, ends);
            $finish;
        end
        $display("ok: %0d samples of %0d channels, %0d segments, %0d clocks lost", sent, CHANNELS, ends, waited);
        $finish;
    end
    reg s_ready_before = 0;
    initial begin
        s_channel = 0;
        s_data = 0;
        s_last = 0;
    end
endmodule
