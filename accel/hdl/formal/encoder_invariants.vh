// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Invariants of the encoder with one channel, included into delta_rice_encoder_multi.v. They are
// proven by induction, for runs of any length:
//
// * every code begins where the one before it in its segment ended, from the place stage to the
//   output;
// * the tail of a segment and a full word are never due in the same clock, so the encoder never
//   waits for itself: while m_ready is high it takes a sample in every clock, whatever the samples
//   are;
// * an offered word stays until it is taken.

    reg       f_was_reset = 1'b0;
    reg [4:0] f_start [COARSE:ALIGNED];     // place_start and place_end of the codes in later stages
    reg [5:0] f_end [COARSE:ALIGNED];
    reg [4:0] f_fill;                       // bits in `unfinished`
    integer   f_i;

    localparam PLACE = 5, COARSE = 6;

    always @(posedge clk) begin
        f_was_reset <= f_was_reset || rst;
        if (enable) begin
            f_start[COARSE] <= place_start;
            f_end[COARSE]   <= place_end;
            for (f_i = FINE; f_i <= ALIGNED; f_i = f_i + 1) begin
                f_start[f_i] <= f_start[f_i-1];
                f_end[f_i]   <= f_end[f_i-1];
            end
            if (valid[ALIGNED])
                f_fill <= last[ALIGNED] ? 5'd0 : f_end[ALIGNED][4:0];
        end
        if (clearing)
            f_fill <= 5'd0;
    end

    // Bits in the unfinished word once the samples in the named stage and in the stages after it
    // have left the encoder.
    wire [4:0] f_after_aligned = !valid[ALIGNED] ? f_fill          : last[ALIGNED] ? 5'd0 : f_end[ALIGNED][4:0];
    wire [4:0] f_after_fine    = !valid[FINE]    ? f_after_aligned : last[FINE]    ? 5'd0 : f_end[FINE][4:0];
    wire [4:0] f_after_coarse  = !valid[COARSE]  ? f_after_fine    : last[COARSE]  ? 5'd0 : f_end[COARSE][4:0];
    wire [4:0] f_after_place   = !valid[PLACE]   ? f_after_coarse  : last[PLACE]   ? 5'd0 : place_end[4:0];

    initial assume (rst);
    generate
        if (CHANNELS == 1) begin : f_one_channel
            always @*
                if (f_was_reset && !rst) begin
                    if (clearing) begin
                        assert (valid == {(ALIGNED + 1){1'b0}});
                        assert (!tail_valid);
                    end else begin
                        if (valid[ALIGNED]) assert (f_start[ALIGNED] == f_fill);
                        if (valid[FINE])    assert (f_start[FINE] == f_after_aligned);
                        if (valid[COARSE])  assert (f_start[COARSE] == f_after_fine);
                        if (valid[PLACE])   assert (place_start == f_after_coarse);
                        assert (fill == f_after_place);
                        if (tail_valid)     assert (f_fill == 5'd0);
                        assert (!(tail_valid && emits_word));
                        if (m_ready)        assert (s_ready);
                    end
                    if (valid[ALIGNED]) assert (completes == f_end[ALIGNED][5]);
                    if (valid[FINE])    assert (completes_from_place[1] == f_end[FINE][5]);
                    if (valid[COARSE])  assert (completes_from_place[0] == f_end[COARSE][5]);
                    if (valid[PLACE])   assert (place_end - place_start >= 1 && place_end - place_start <= 25);
                    for (f_i = COARSE; f_i <= ALIGNED; f_i = f_i + 1)
                        if (valid[f_i]) assert (f_end[f_i] - f_start[f_i] >= 1 && f_end[f_i] - f_start[f_i] <= 25);
                end
        end
    endgenerate

    reg                                   f_offered = 1'b0;
    reg [33+COUNT_WIDTH+CHANNEL_WIDTH-1:0] f_offer;
    always @(posedge clk) begin
        f_offered <= !rst && m_valid && !m_ready;
        f_offer   <= {m_data, m_last, m_count, m_channel};
    end
    always @*
        if (f_offered && f_was_reset) begin
            assert (m_valid);
            assert (f_offer == {m_data, m_last, m_count, m_channel});
        end
