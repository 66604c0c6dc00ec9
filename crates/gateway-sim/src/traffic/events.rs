//! Generates the events that follow the guilds on a connection.

use super::guild::Guild;
use super::source::Source;
use super::text::{EMOJI, message_text, title, words};
use super::users::{Member, presence};

/// The acknowledgement of a heartbeat, which is not an event and has no sequence number.
const ACKNOWLEDGED: &str = r#"{"t":null,"s":null,"op":11,"d":null}"#;

/// Generates an event or an acknowledgement. The percentages of each kind are like those on real
/// gateways.
pub(super) fn live(source: &mut Source, guilds: &[Guild]) -> String {
    let kind = source.below(100);
    if guilds.is_empty() || kind == 99 {
        return ACKNOWLEDGED.into();
    }
    let guild = &guilds[source.busy(guilds.len(), 6.0)];
    let member = &guild.members[source.busy(guild.members.len(), 2.0)];
    match kind {
        0..38 => message(source, guild, member),
        38..78 => {
            let data = presence(source, member.id, Some(guild.id));
            source.dispatch("PRESENCE_UPDATE", &data)
        }
        78..86 => typing(source, guild, member),
        86..91 => reaction(source, guild, member),
        91..95 => source.dispatch("GUILD_MEMBER_UPDATE", &member.of_guild(guild.id)),
        _ => voice(source, guild, member),
    }
}

fn message(source: &mut Source, guild: &Guild, author: &Member) -> String {
    let channel = source.pick(&guild.texts);
    let data = format!(
        concat!(
            r#"{{"type":0,"tts":false,"timestamp":"{time}","pinned":false,"nonce":"{nonce}","mentions":[],"#,
            r#""mention_roles":[],"mention_everyone":false,"member":{member},"id":"{id}","flags":0,"#,
            r#""embeds":[{embeds}],"edited_timestamp":null,"content":"{content}","components":[],"#,
            r#""channel_type":{kind},"channel_id":"{channel}","author":{author},"attachments":[],"#,
            r#""guild_id":"{guild}"}}"#
        ),
        time = source.time(),
        nonce = source.new_id(),
        member = author.without_user(),
        id = source.new_id(),
        embeds = if source.percent(15) { embed(source) } else { String::new() },
        content = message_text(source),
        kind = channel.kind,
        channel = channel.id,
        author = author.user,
        guild = guild.id,
    );
    source.dispatch("MESSAGE_CREATE", &data)
}

fn embed(source: &mut Source) -> String {
    let field = |source: &mut Source| {
        format!(r#"{{"value":"{}","name":"{}","inline":true}}"#, words(source, 2, 9), words(source, 1, 4))
    };
    let fields: Vec<String> = (0..source.below(6)).map(|_| field(source)).collect();
    format!(
        r#"{{"type":"rich","title":"{}","description":"{}","color":{},"fields":[{}],"content_scan_version":0}}"#,
        title(source, 2, 7),
        words(source, 10, 60),
        source.below(1 << 24),
        fields.join(","),
    )
}

fn typing(source: &mut Source, guild: &Guild, member: &Member) -> String {
    let data = format!(
        r#"{{"user_id":"{}","timestamp":{},"member":{},"channel_id":"{}","guild_id":"{}"}}"#,
        member.id,
        source.now() / 1000,
        member.object(),
        source.pick(&guild.texts).id,
        guild.id,
    );
    source.dispatch("TYPING_START", &data)
}

fn reaction(source: &mut Source, guild: &Guild, member: &Member) -> String {
    let data = format!(
        concat!(
            r#"{{"user_id":"{user}","type":0,"message_id":"{message}","message_author_id":"{author}","#,
            r#""member":{member},"emoji":{{"name":"{picture}","id":null}},"channel_id":"{channel}","#,
            r#""burst":false,"guild_id":"{guild}"}}"#
        ),
        user = member.id,
        message = source.id(),
        author = guild.members[source.below(guild.members.len())].id,
        member = member.object(),
        picture = source.pick(EMOJI),
        channel = source.pick(&guild.texts).id,
        guild = guild.id,
    );
    source.dispatch("MESSAGE_REACTION_ADD", &data)
}

fn voice(source: &mut Source, guild: &Guild, member: &Member) -> String {
    let data = format!(
        concat!(
            r#"{{"member":{member},"user_id":"{user}","suppress":false,"session_id":"{session}","#,
            r#""self_video":false,"self_mute":{mute},"self_deaf":false,"request_to_speak_timestamp":null,"#,
            r#""mute":false,"guild_id":"{guild}","deaf":false,"channel_id":"{channel}"}}"#
        ),
        member = member.object(),
        user = member.id,
        session = source.hex(),
        mute = source.percent(30),
        guild = guild.id,
        channel = source.pick(&guild.voices).id,
    );
    source.dispatch("VOICE_STATE_UPDATE", &data)
}
